// The learning rate of `lr_schedule: kl_adaptive` (AdaptiveScheduler of RL-Games): it falls if an update changed the policy by
// more than twice the target KL divergence, and rises below half of it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backplane::ppo {

class KlAdaptiveRate {
 public:
  explicit KlAdaptiveRate(double rate) : rate_(rate) {}

  double rate() const { return rate_; }
  void Restore(double rate) { rate_ = rate; }

  void BeginUpdate() { kl_sum_ = 0, kl_count_ = 0; }
  void Add(double kl) { kl_sum_ += kl, ++kl_count_; }  // the divergence after a minibatch
  void EndUpdate(double target) {
    if (kl_count_ == 0) return;
    const double kl = kl_sum_ / static_cast<double>(kl_count_);
    if (kl > 2 * target) rate_ = std::max(rate_ / 1.5, 1e-6);
    if (kl < target / 2) rate_ = std::min(rate_ * 1.5, 1e-2);
  }

 private:
  double rate_;
  double kl_sum_ = 0;
  uint64_t kl_count_ = 0;
};

}  // namespace backplane::ppo
