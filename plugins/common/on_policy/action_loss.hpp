// PPO's loss of a sample's action and its derivatives at the policy's outputs, for any distributions.
#pragma once

#include <cstdint>
#include <vector>

#include "on_policy/clipped_loss.hpp"
#include "on_policy/distributions.hpp"

namespace backplane::on_policy {

// Deviations of the numbers, the same for all samples of a minibatch.
template <class T>
struct Deviations {
  Deviations() = default;
  Deviations(const T* log_stds, int64_t n);
  // The Gaussians' entropy, which is the same for every sample, of n samples.
  void AddEntropy(int64_t n, LossSums* sums) const;
  std::vector<T> log_std, inv_std;
};

template <class T>
struct ActionSample {
  const T* head;          // [outputs]
  const T* numbers;       // [numbers]: unclipped; NULL: none
  const int64_t* choice;  // [choices]; NULL: none
  const uint8_t* mask;    // [flags]; NULL: all allowed
  T old_logp, advantage;
};

// Adds the clipped policy loss and the entropy of choices and bits. Writes the derivative of (loss - entropy_coeff * entropy) /
// count by the outputs into d, and adds the derivative of loss / count by the log-deviations to d_log_std.
template <class T>
void ActionLoss(const Distributions& action, const Deviations<T>& deviations, const ActionSample<T>& sample,
                const LossOptions& options, int64_t count, T* d, double* d_log_std, LossSums* sums);

}  // namespace backplane::on_policy
