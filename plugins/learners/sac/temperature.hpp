// The weight of the entropy, fixed or learned: one number, its logarithm, with Adam.
#pragma once

#include <cmath>
#include <cstdint>

namespace backplane::sac {

class Temperature {
 public:
  Temperature(double alpha, bool learned, double target_entropy)
      : log_alpha_(std::log(alpha)), target_entropy_(target_entropy), learned_(learned), fixed_(alpha) {}

  double alpha() const { return learned_ ? std::exp(log_alpha_) : fixed_; }
  bool learned() const { return learned_; }

  // One step of Adam along the gradient of -mean(log_alpha * (logp + target_entropy)), the loss of Stable-Baselines3, given the
  // mean of logp. No effect if alpha is fixed.
  void Step(double mean_logp, double lr) {
    if (!learned_) return;
    const double gradient = -(mean_logp + target_entropy_);
    ++steps_;
    m_ = .9 * m_ + (1 - .9) * gradient, v_ = .999 * v_ + (1 - .999) * gradient * gradient;
    const auto t = static_cast<double>(steps_);
    log_alpha_ -= lr * (m_ / (1 - std::pow(.9, t))) / (std::sqrt(v_ / (1 - std::pow(.999, t))) + 1e-8);
  }

  // The saved numbers.
  struct State {
    double log_alpha, m, v;
    int64_t steps;
  };
  State state() const { return {log_alpha_, m_, v_, steps_}; }
  // No effect on a fixed alpha.
  void Restore(const State& s) {
    if (learned_) log_alpha_ = s.log_alpha, m_ = s.m, v_ = s.v, steps_ = s.steps;
  }

 private:
  double log_alpha_, m_ = 0, v_ = 0;
  int64_t steps_ = 0;
  double target_entropy_;
  bool learned_;
  double fixed_;  // also 0, whose logarithm is infinite
};

}  // namespace backplane::sac
