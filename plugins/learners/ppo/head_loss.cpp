#include "head_loss.hpp"

#include <algorithm>
#include <cmath>

namespace backplane::ppo {
namespace {

constexpr double kHalfLog2Pi = 0.91893853320467274178;

// Adds the policy loss of sample i and returns its derivative by the log-probability.
template <class T>
T PolicyTerm(const LossContext<T>& c, int64_t i, T logp, LossSums* sums) {
  const T log_ratio = logp - c.batch.logp[i], ratio = std::exp(log_ratio), clip = static_cast<T>(c.options.clip);
  const T advantage = static_cast<T>((c.batch.advantage[i] - c.advantage_mean) * c.advantage_scale);
  const T free = -advantage * ratio, clipped = -advantage * std::clamp(ratio, 1 - clip, 1 + clip);
  sums->policy += std::max(free, clipped);
  sums->kl += static_cast<double>(ratio) - 1 - log_ratio;
  sums->clipped += std::abs(ratio - 1) > clip;
  return free >= clipped ? free / static_cast<T>(c.batch.n) : 0;  // d(-A ratio) / d logp = -A ratio
}

// Ties share the derivative, as in autograd: a value that moved by just the clip range is such a tie.
template <class T>
T ValueTerm(const LossContext<T>& c, int64_t i, T value, LossSums* sums) {
  const T error = value - c.batch.ret[i], factor = static_cast<T>(c.options.vf_coeff / static_cast<double>(c.batch.n));
  const T clip = static_cast<T>(c.options.vf_clip), change = value - c.batch.value[i];
  if (clip <= 0) {
    sums->value += error * error;
    return error * factor;
  }
  const T near = c.batch.value[i] + std::clamp(change, -clip, clip) - c.batch.ret[i];
  const T free = error * error, clipped = near * near, d_clipped = std::abs(change) <= clip ? near : 0;
  sums->value += std::max(free, clipped);
  return factor * (free > clipped ? error : free < clipped ? d_clipped : (error + d_clipped) / 2);
}

template <class T>
void Categorical(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = b.begin + r, n = c.net.actions;
  const T* logits = b.head + r * n;
  const uint8_t* mask = c.batch.mask ? c.batch.mask + i * n : nullptr;
  T* d = b.d_head + r * n;
  T top = -INFINITY, sum = 0, entropy = 0;
  for (int64_t k = 0; k < n; ++k) top = !mask || mask[k] ? std::max(top, logits[k]) : top;
  for (int64_t k = 0; k < n; ++k) sum += !mask || mask[k] ? std::exp(logits[k] - top) : 0;
  const T log_sum = top + std::log(sum);
  for (int64_t k = 0; k < n; ++k) {
    d[k] = !mask || mask[k] ? std::exp(logits[k] - log_sum) : 0;
    if (d[k] > 0) entropy -= d[k] * (logits[k] - log_sum);
  }
  const int64_t choice = c.batch.choice[i];
  const T g = PolicyTerm(c, i, logits[choice] - log_sum, sums);
  const T bonus = static_cast<T>(c.options.entropy_coeff / static_cast<double>(c.batch.n));
  for (int64_t k = 0; k < n; ++k) {
    const T p = d[k];
    d[k] = p > 0 ? p * (bonus * (logits[k] - log_sum + entropy) - g) : 0;
  }
  d[choice] += g;
  sums->entropy += entropy;
}

template <class T>
void Gaussian(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = b.begin + r, n = c.net.actions;
  const T *mean = b.head + r * n, *x = c.batch.action + i * n;
  T* d = b.d_head + r * n;
  T logp = 0;
  for (int64_t k = 0; k < n; ++k) {
    d[k] = (x[k] - mean[k]) * c.inv_std[k];
    logp -= d[k] * d[k] * T(.5) + c.log_std[k] + static_cast<T>(kHalfLog2Pi);
  }
  const T g = PolicyTerm(c, i, logp, sums);
  for (int64_t k = 0; k < n; ++k) {
    b.d_log_std[k] += g * (d[k] * d[k] - 1);
    d[k] *= g * c.inv_std[k];
  }
}

template <class T>
void StateDependentGaussian(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = b.begin + r, n = c.net.actions;
  const T *mean = b.head + r * n, *x = c.batch.action + i * n, *variance = b.variance + r * n;
  T *d = b.d_head + r * n, *dv = b.d_variance + r * n;
  T logp = 0, entropy = 0;
  for (int64_t k = 0; k < n; ++k) {
    const T half_log = std::log(variance[k]) * T(.5) + static_cast<T>(kHalfLog2Pi);
    d[k] = (x[k] - mean[k]) / variance[k];
    logp -= d[k] * (x[k] - mean[k]) * T(.5) + half_log;
    entropy += half_log + T(.5);
  }
  const T g = PolicyTerm(c, i, logp, sums), bonus = static_cast<T>(c.options.entropy_coeff / static_cast<double>(c.batch.n));
  for (int64_t k = 0; k < n; ++k) {
    dv[k] = T(.5) * (g * d[k] * d[k] - (g + bonus) / variance[k]);
    d[k] *= g;
  }
  sums->entropy += entropy;
}

}  // namespace

void LossSums::Add(const LossSums& o) {
  policy += o.policy, value += o.value, entropy += o.entropy, kl += o.kl, clipped += o.clipped;
}

template <class T>
LossContext<T>::LossContext(const Net& net_, const Minibatch<T>& batch_, const LossOptions& options_, const T* params)
    : net(net_), batch(batch_), options(options_) {
  if (options.normalize_advantages && batch.n > 1) {
    for (int64_t i = 0; i < batch.n; ++i) advantage_mean += batch.advantage[i];
    advantage_mean /= static_cast<double>(batch.n);
    double squares = 0;
    for (int64_t i = 0; i < batch.n; ++i)
      squares += (batch.advantage[i] - advantage_mean) * (batch.advantage[i] - advantage_mean);
    advantage_scale = 1 / (std::sqrt(squares / static_cast<double>(batch.n - 1)) + 1e-8);
  }
  if (net.discrete || net.sde) return;
  log_std.assign(params + net.log_std, params + net.log_std + net.actions);
  for (T value : log_std) inv_std.push_back(std::exp(-value));
}

template <class T>
StepStats LossContext<T>::Stats(const LossSums& sums) const {
  const auto n = static_cast<double>(batch.n);
  StepStats s{};
  s.policy_loss = sums.policy / n, s.value_loss = sums.value / (2 * n), s.kl = sums.kl / n;
  s.clip_fraction = static_cast<double>(sums.clipped) / n;
  s.entropy = sums.entropy / n;
  for (T value : log_std) s.entropy += value + kHalfLog2Pi + .5;  // the same for every sample
  s.total = s.policy_loss - options.entropy_coeff * s.entropy + options.vf_coeff * s.value_loss;
  return s;
}

template <class T>
void HeadLoss(const LossContext<T>& c, const HeadBlock<T>& b, LossSums* sums) {
  for (int64_t r = 0; r < b.rows; ++r) {
    c.net.discrete ? Categorical(c, b, r, sums) : c.net.sde ? StateDependentGaussian(c, b, r, sums) : Gaussian(c, b, r, sums);
    b.d_value[r] = ValueTerm(c, b.begin + r, b.value[r], sums);
  }
}

template struct LossContext<float>;
template struct LossContext<double>;
template void HeadLoss(const LossContext<float>&, const HeadBlock<float>&, LossSums*);
template void HeadLoss(const LossContext<double>&, const HeadBlock<double>&, LossSums*);

}  // namespace backplane::ppo
