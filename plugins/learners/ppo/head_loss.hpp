// PPO's loss and its derivatives at the networks' outputs, per sample: the part of the fused gradient between the forward and
// the backward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "gradient.hpp"
#include "on_policy/action_loss.hpp"

namespace backplane::ppo {

// Constants shared by all samples of a minibatch.
template <class T>
struct LossContext {
  LossContext(const Net& net, const Minibatch<T>& batch, const LossOptions& options, const T* params);
  StepStats Stats(const LossSums& sums) const;

  const Net& net;
  const Minibatch<T>& batch;
  const LossOptions& options;
  Scaling advantage;
  Deviations<T> deviations;  // for Gaussians without state-dependent noise
};

// Samples [begin, begin + rows) of the minibatch with the networks' outputs: head [rows, actions], value [rows], and for
// state-dependent noise the variances [rows, actions]. Derivatives are of the mean loss over the minibatch.
template <class T>
struct HeadBlock {
  int64_t begin, rows;
  const T *head, *value, *variance;
  T *d_head, *d_value;
  T* d_variance;      // [rows, actions]; only for state-dependent noise
  double* d_log_std;  // of each number, added to; only for Gaussians without state-dependent noise
};
// The losses of policy and value; they write to disjoint memory.
template <class T>
void PolicyHeadLoss(const LossContext<T>& context, const HeadBlock<T>& block, LossSums* sums);
template <class T>
void ValueHeadLoss(const LossContext<T>& context, const HeadBlock<T>& block, LossSums* sums);

}  // namespace backplane::ppo
