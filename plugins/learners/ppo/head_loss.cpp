#include "head_loss.hpp"

#include <algorithm>
#include <cmath>

namespace backplane::ppo {
namespace {

constexpr double kHalfLog2Pi = 0.91893853320467274178;

template <class T>
T Advantage(const LossContext<T>& c, int64_t i) {
  return static_cast<T>((c.batch.advantage[i] - c.advantage.mean) * c.advantage.scale);
}

// Adds the policy loss of the sample at i and returns the derivative of the mean by its log-probability.
template <class T>
T PolicyTerm(const LossContext<T>& c, int64_t i, T logp, LossSums* sums) {
  return PolicyLoss(logp, c.batch.logp[i], Advantage(c, i), static_cast<T>(c.options.clip), sums) / static_cast<T>(c.batch.n);
}

template <class T>
T ValueTerm(const LossContext<T>& c, int64_t i, T value, LossSums* sums) {
  const T factor = static_cast<T>(c.options.vf_coeff / static_cast<double>(c.batch.n));
  return factor * ValueLoss(value, c.batch.value[i], c.batch.ret[i], static_cast<T>(c.options.vf_clip), T(0), sums);
}

template <class T>
void Categorical(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = c.batch.Place(b.begin + r), n = c.net.actions;
  const Choice<T> choice{b.head + r * n, c.batch.mask ? c.batch.mask + i * n : nullptr, n, c.batch.choice[i], c.batch.logp[i],
                         Advantage(c, i)};
  CategoricalLoss(choice, static_cast<T>(c.options.clip), c.options.entropy_coeff, c.batch.n, b.d_head + r * n, sums);
}

template <class T>
void Gaussian(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = c.batch.Place(b.begin + r), n = c.net.actions;
  const T *mean = b.head + r * n, *x = c.batch.action + i * n;
  T* d = b.d_head + r * n;
  T logp = 0;
  for (int64_t k = 0; k < n; ++k) {
    d[k] = (x[k] - mean[k]) * c.deviations.inv_std[k];
    logp -= d[k] * d[k] * T(.5) + c.deviations.log_std[k] + static_cast<T>(kHalfLog2Pi);
  }
  const T g = PolicyTerm(c, i, logp, sums);
  for (int64_t k = 0; k < n; ++k) {
    b.d_log_std[k] += g * (d[k] * d[k] - 1);
    d[k] *= g * c.deviations.inv_std[k];
  }
}

template <class T>
void StateDependentGaussian(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const int64_t i = c.batch.Place(b.begin + r), n = c.net.actions;
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

// Several distributions: the log-probability is their sum.
template <class T>
void Several(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const Distributions& action = c.net.action;
  const int64_t i = c.batch.Place(b.begin + r);
  const auto at = [i](auto* values, int64_t width) { return values ? values + i * width : nullptr; };
  const ActionSample<T> sample{b.head + r * action.outputs,
                               at(c.batch.action, action.numbers),
                               at(c.batch.choice, action.choices),
                               at(c.batch.mask, action.flags),
                               c.batch.logp[i],
                               Advantage(c, i)};
  ActionLoss(action, c.deviations, sample, c.options, c.batch.n, b.d_head + r * action.outputs, b.d_log_std, sums);
}

}  // namespace

template <class T>
LossContext<T>::LossContext(const Net& net_, const Minibatch<T>& batch_, const LossOptions& options_, const T* params)
    : net(net_), batch(batch_), options(options_) {
  if (options.normalize_advantages) advantage = Normalized(batch.n, [&](int64_t i) { return batch.advantage[batch.Place(i)]; });
  if (net.discrete || net.sde) return;
  deviations = Deviations<T>(params + net.log_std, net.log_stds());
}

template <class T>
StepStats LossContext<T>::Stats(const LossSums& sums) const {
  LossSums all = sums;
  deviations.AddEntropy(batch.n, &all);
  return MeansOf(all, batch.n, options);
}

template <class T>
void PolicyHeadLoss(const LossContext<T>& c, const HeadBlock<T>& b, LossSums* sums) {
  const bool is_plain = c.net.action.is_plain();
  for (int64_t r = 0; r < b.rows && !is_plain; ++r) Several(c, b, r, sums);
  for (int64_t r = 0; r < b.rows && is_plain; ++r)
    c.net.discrete ? Categorical(c, b, r, sums) : c.net.sde ? StateDependentGaussian(c, b, r, sums) : Gaussian(c, b, r, sums);
}

template <class T>
void ValueHeadLoss(const LossContext<T>& c, const HeadBlock<T>& b, LossSums* sums) {
  for (int64_t r = 0; r < b.rows; ++r) b.d_value[r] = ValueTerm(c, c.batch.Place(b.begin + r), b.value[r], sums);
}

template struct LossContext<float>;
template struct LossContext<double>;
template void PolicyHeadLoss(const LossContext<float>&, const HeadBlock<float>&, LossSums*);
template void PolicyHeadLoss(const LossContext<double>&, const HeadBlock<double>&, LossSums*);
template void ValueHeadLoss(const LossContext<float>&, const HeadBlock<float>&, LossSums*);
template void ValueHeadLoss(const LossContext<double>&, const HeadBlock<double>&, LossSums*);

}  // namespace backplane::ppo
