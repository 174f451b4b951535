// PPO's loss and its derivatives at the outputs of the networks, sample by sample: what the fused gradient does between the
// forward and the backward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "gradient.hpp"

namespace backplane::ppo {

// What all samples of a minibatch share.
template <class T>
struct LossContext {
  LossContext(const Net& net, const Minibatch<T>& batch, const LossOptions& options, const T* params);
  StepStats Stats(const LossSums& sums) const;

  const Net& net;
  const Minibatch<T>& batch;
  const LossOptions& options;
  Scaling advantage;
  std::vector<T> log_std, inv_std;  // [actions], Gaussian without state-dependent noise
};

// Samples [begin, begin + rows) of the minibatch, given what the networks made of them: head [rows, actions], value [rows], and
// with state-dependent noise the variances [rows, actions]. Each derivative is that of the mean loss over the minibatch.
template <class T>
struct HeadBlock {
  int64_t begin, rows;
  const T *head, *value, *variance;
  T *d_head, *d_value;
  T* d_variance;      // [rows, actions]; state-dependent noise alone
  double* d_log_std;  // [actions], added to; Gaussian without state-dependent noise alone
};
// The policy's part, and the value's: neither touches what is the other's.
template <class T>
void PolicyHeadLoss(const LossContext<T>& context, const HeadBlock<T>& block, LossSums* sums);
template <class T>
void ValueHeadLoss(const LossContext<T>& context, const HeadBlock<T>& block, LossSums* sums);

}  // namespace backplane::ppo
