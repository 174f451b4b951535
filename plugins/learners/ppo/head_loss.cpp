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

// Adds the log-probability of numbers x [n] with the deviations from `first` on, and writes (x - mean) / deviation into d.
template <class T>
void AddNumbers(const LossContext<T>& c, const Distribution& part, const T* mean, const T* x, T* d, T* logp) {
  for (int64_t k = 0; k < part.n; ++k) {
    d[k] = (x[k] - mean[k]) * c.inv_std[part.number + k];
    *logp -= d[k] * d[k] * T(.5) + c.log_std[part.number + k] + static_cast<T>(kHalfLog2Pi);
  }
}

// Adds the log-probability and the entropy of independent bits, and writes their probabilities into d.
template <class T>
void AddBits(const Distribution& part, const T* logits, const int64_t* bits, T* d, T* logp, T* entropy) {
  for (int64_t k = 0; k < part.n; ++k) {
    const T x = logits[k], above = std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));  // log(1 + exp(x))
    d[k] = std::exp(x - above);
    *logp += (bits[k] ? x : 0) - above;
    *entropy += above - x * d[k];
  }
}

// From what AddNumbers, AddBits and ProbabilitiesOf wrote into d: the derivatives of slope * logp - bonus * entropy. `terms`
// are those of the choices, in their order.
template <class T>
void SeveralDerivatives(const LossContext<T>& c, const ChoiceTerm<T>* terms, const T* head, const int64_t* choice, T slope,
                        T bonus, T* d, double* d_log_std) {
  for (const Distribution& part : c.net.action.each) {
    const T* const logits = head + part.output;
    T* const to = d + part.output;
    if (part.kind == Kind::kChoice)
      ChoiceDerivative(logits, *terms++, part.n, choice[part.choice], slope, bonus, to);
    else if (part.kind == Kind::kBits)
      for (int64_t k = 0; k < part.n; ++k)
        to[k] = slope * (static_cast<T>(choice[part.choice + k]) - to[k]) + bonus * logits[k] * to[k] * (1 - to[k]);
    else
      for (int64_t k = 0; k < part.n; ++k) {
        d_log_std[part.number + k] += slope * (to[k] * to[k] - 1);
        to[k] *= slope * c.inv_std[part.number + k];
      }
  }
}

// Several distributions: the log-probability is their sum.
template <class T>
void Several(const LossContext<T>& c, const HeadBlock<T>& b, int64_t r, LossSums* sums) {
  const Distributions& action = c.net.action;
  const int64_t i = c.batch.Place(b.begin + r);
  const T *head = b.head + r * action.outputs, *x = c.batch.action ? c.batch.action + i * action.numbers : nullptr;
  const int64_t* choice = c.batch.choice ? c.batch.choice + i * action.choices : nullptr;
  const uint8_t* mask = c.batch.mask ? c.batch.mask + i * action.flags : nullptr;
  T *const d = b.d_head + r * action.outputs, logp = 0, entropy = 0;
  static thread_local std::vector<ChoiceTerm<T>> terms;
  terms.clear();
  for (const Distribution& part : action.each) {
    if (part.kind == Kind::kGaussian) AddNumbers(c, part, head + part.output, x + part.number, d + part.output, &logp);
    if (part.kind == Kind::kBits) AddBits(part, head + part.output, choice + part.choice, d + part.output, &logp, &entropy);
    if (part.kind != Kind::kChoice) continue;
    terms.push_back(ProbabilitiesOf(head + part.output, mask ? mask + part.flag : nullptr, part.n, d + part.output));
    logp += head[part.output + choice[part.choice]] - terms.back().log_sum;
    entropy += terms.back().entropy;
  }
  const T g = PolicyTerm(c, i, logp, sums), bonus = static_cast<T>(c.options.entropy_coeff / static_cast<double>(c.batch.n));
  sums->entropy += entropy;
  SeveralDerivatives(c, terms.data(), head, choice, g, bonus, d, b.d_log_std);
}

}  // namespace

template <class T>
LossContext<T>::LossContext(const Net& net_, const Minibatch<T>& batch_, const LossOptions& options_, const T* params)
    : net(net_), batch(batch_), options(options_) {
  if (options.normalize_advantages) advantage = Normalized(batch.n, [&](int64_t i) { return batch.advantage[batch.Place(i)]; });
  if (net.discrete || net.sde) return;
  log_std.assign(params + net.log_std, params + net.log_std + net.log_stds());
  for (T value : log_std) inv_std.push_back(std::exp(-value));
}

template <class T>
StepStats LossContext<T>::Stats(const LossSums& sums) const {
  LossSums all = sums;
  // The same for every sample.
  for (T value : log_std) all.entropy += static_cast<double>(batch.n) * (value + kHalfLog2Pi + .5);
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
