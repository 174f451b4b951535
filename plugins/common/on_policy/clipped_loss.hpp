// PPO's loss (Schulman et al., arXiv 1707.06347) per sample, with the derivatives at the networks' outputs. Derivatives are per
// sample: divide them by n for a mean over n samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace backplane::on_policy {

struct LossOptions {
  double clip;
  double vf_clip;      // 0: the value loss is not clipped; in units of the critic's output
  double huber_delta;  // 0: squared error
  double entropy_coeff, vf_coeff;
  double loss_scale = 1;  // of LibTorch's backward pass in float16; gradients are divided by it again
};

// Sums over samples.
struct LossSums {
  double policy = 0, value = 0, entropy = 0, kl = 0;
  int64_t clipped = 0;
  void Add(const LossSums& o) { policy += o.policy, value += o.value, entropy += o.entropy, kl += o.kl, clipped += o.clipped; }
};

// Means over a minibatch; `kl` is the estimate mean((ratio - 1) - ln ratio).
struct StepStats {
  double policy_loss, value_loss, entropy, total, kl, clip_fraction, grad_norm;
  bool applied;
  bool overflowed;  // in float16, with a scaled loss

  // Adds means over a share `weight` of the minibatch.
  void Add(double weight, const StepStats& part) {
    for (double StepStats::*each : {&StepStats::policy_loss, &StepStats::value_loss, &StepStats::entropy, &StepStats::total,
                                    &StepStats::kl, &StepStats::clip_fraction})
      this->*each += weight * (part.*each);
  }
};

// Means of n samples, with total = policy - entropy_coeff * entropy + vf_coeff * value.
inline StepStats MeansOf(const LossSums& sums, int64_t samples, const LossOptions& options) {
  const auto n = static_cast<double>(samples);
  StepStats s{};
  s.policy_loss = sums.policy / n, s.value_loss = sums.value / n, s.entropy = sums.entropy / n, s.kl = sums.kl / n;
  s.clip_fraction = static_cast<double>(sums.clipped) / n;
  s.total = s.policy_loss - options.entropy_coeff * s.entropy + options.vf_coeff * s.value_loss;
  return s;
}

// Adds max(-A ratio, -A clip(ratio, 1 - clip, 1 + clip)) and returns its derivative by the log-probability.
template <class T>
T PolicyLoss(T logp, T old_logp, T advantage, T clip, LossSums* sums) {
  const T log_ratio = logp - old_logp, ratio = std::exp(log_ratio);
  const T free = -advantage * ratio, clipped = -advantage * std::clamp(ratio, 1 - clip, 1 + clip);
  sums->policy += std::max(free, clipped);
  sums->kl += static_cast<double>(ratio) - 1 - log_ratio;
  sums->clipped += std::abs(ratio - 1) > clip;
  return free >= clipped ? free : 0;  // d(-A ratio) / d logp = -A ratio
}

// Adds f(value - target), or with clip > 0 max(f(value - target), f(old + clip(value - old, +-clip) - target)), and returns its
// derivative. f(e) = e^2 / 2, beyond huber > 0 huber * (|e| - huber / 2). Ties share the derivative, as in autograd: a value
// that moved by just the clip range is such a tie.
template <class T>
T ValueLoss(T value, T old, T target, T clip, T huber, LossSums* sums) {
  const auto far = [&](T e) { return huber > 0 && std::abs(e) > huber; };
  const auto loss = [&](T e) { return far(e) ? huber * (std::abs(e) - huber / 2) : e * e / 2; };
  const auto slope = [&](T e) { return far(e) ? std::copysign(huber, e) : e; };
  const T error = value - target, free = loss(error);
  if (clip <= 0) {
    sums->value += free;
    return slope(error);
  }
  const T change = value - old, near = old + std::clamp(change, -clip, clip) - target, clipped = loss(near);
  const T d_clipped = std::abs(change) <= clip ? slope(near) : 0;
  sums->value += std::max(free, clipped);
  return free > clipped ? slope(error) : free < clipped ? d_clipped : (slope(error) + d_clipped) / 2;
}

// A choice's distribution in a loss.
template <class T>
struct ChoiceTerm {
  T log_sum, entropy;  // the logarithm of the sum of exp(logits)
};
// Writes the probabilities of n choices into p. mask [n], 0: forbidden; NULL: all allowed.
template <class T>
ChoiceTerm<T> ProbabilitiesOf(const T* logits, const uint8_t* mask, int64_t n, T* p) {
  const auto allowed = [&](int64_t k) { return !mask || mask[k]; };
  T top = -INFINITY, sum = 0, entropy = 0;
  for (int64_t k = 0; k < n; ++k) top = allowed(k) ? std::max(top, logits[k]) : top;
  for (int64_t k = 0; k < n; ++k) sum += p[k] = allowed(k) ? std::exp(logits[k] - top) : 0;
  const T log_sum = top + std::log(sum);
  for (int64_t k = 0; k < n; ++k) {
    p[k] /= sum;
    if (p[k] > 0) entropy -= p[k] * (logits[k] - log_sum);
  }
  return {log_sum, entropy};
}
// Replaces the probabilities in d by the derivative of slope * logp - bonus * entropy by the logits.
template <class T>
void ChoiceDerivative(const T* logits, const ChoiceTerm<T>& term, int64_t n, int64_t taken, T slope, T bonus, T* d) {
  for (int64_t k = 0; k < n; ++k) {
    const T p = d[k];
    d[k] = p > 0 ? p * (bonus * (logits[k] - term.log_sum + term.entropy) - slope) : 0;
  }
  d[taken] += slope;
}

// One sample of a categorical policy.
template <class T>
struct Choice {
  const T* logits;      // [n]
  const uint8_t* mask;  // [n], 0: forbidden; NULL: all allowed
  int64_t n, taken;
  T old_logp, advantage;
};

// Adds the clipped policy loss and the entropy of a sample and writes the derivative of (loss - entropy_coeff * entropy) /
// count by the logits into d [n].
template <class T>
void CategoricalLoss(const Choice<T>& c, T clip, double entropy_coeff, int64_t count, T* d, LossSums* sums) {
  const ChoiceTerm<T> term = ProbabilitiesOf(c.logits, c.mask, c.n, d);
  const T g = PolicyLoss(c.logits[c.taken] - term.log_sum, c.old_logp, c.advantage, clip, sums) / static_cast<T>(count);
  const T bonus = static_cast<T>(entropy_coeff / static_cast<double>(count));
  ChoiceDerivative(c.logits, term, c.n, c.taken, g, bonus, d);
  sums->entropy += term.entropy;
}

// A number x enters a loss as (x - mean) * scale.
struct Scaling {
  double mean = 0, scale = 1;
};
// Normalizes n numbers at(i) to mean 0 and unbiased deviation 1 (+ 1e-8); leaves a single one unchanged.
template <class At>
Scaling Normalized(int64_t n, At&& at) {
  if (n < 2) return {};
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) mean += at(i);
  mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (at(i) - mean) * (at(i) - mean);
  return {mean, 1 / (std::sqrt(squares / static_cast<double>(n - 1)) + 1e-8)};
}

}  // namespace backplane::on_policy
