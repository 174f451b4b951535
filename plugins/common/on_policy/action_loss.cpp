#include "on_policy/action_loss.hpp"

namespace backplane::on_policy {
namespace {

constexpr double kHalfLog2Pi = 0.91893853320467274178;

// Adds the log-probability of numbers x [n] with the deviations from `first` on, and writes (x - mean) / deviation into d.
template <class T>
void AddNumbers(const Deviations<T>& c, const Distribution& part, const T* mean, const T* x, T* d, T* logp) {
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

// Turns what AddNumbers, AddBits and ProbabilitiesOf wrote into d into the derivatives of slope * logp - bonus * entropy.
// `terms` belong to the choices, in their order.
template <class T>
void Derivatives(const Distributions& action, const Deviations<T>& c, const ChoiceTerm<T>* terms, const ActionSample<T>& sample,
                 T slope, T bonus, T* d, double* d_log_std) {
  for (const Distribution& part : action.each) {
    const T* const logits = sample.head + part.output;
    T* const to = d + part.output;
    if (part.kind == Kind::kChoice)
      ChoiceDerivative(logits, *terms++, part.n, sample.choice[part.choice], slope, bonus, to);
    else if (part.kind == Kind::kBits)
      for (int64_t k = 0; k < part.n; ++k)
        to[k] = slope * (static_cast<T>(sample.choice[part.choice + k]) - to[k]) + bonus * logits[k] * to[k] * (1 - to[k]);
    else
      for (int64_t k = 0; k < part.n; ++k) {
        d_log_std[part.number + k] += slope * (to[k] * to[k] - 1);
        to[k] *= slope * c.inv_std[part.number + k];
      }
  }
}

}  // namespace

template <class T>
Deviations<T>::Deviations(const T* log_stds, int64_t n) : log_std(log_stds, log_stds + n) {
  for (T value : log_std) inv_std.push_back(std::exp(-value));
}

template <class T>
void Deviations<T>::AddEntropy(int64_t n, LossSums* sums) const {
  for (T value : log_std) sums->entropy += static_cast<double>(n) * (value + kHalfLog2Pi + .5);
}

template <class T>
void ActionLoss(const Distributions& action, const Deviations<T>& deviations, const ActionSample<T>& s,
                const LossOptions& options, int64_t count, T* d, double* d_log_std, LossSums* sums) {
  T logp = 0, entropy = 0;
  static thread_local std::vector<ChoiceTerm<T>> terms;
  terms.clear();
  for (const Distribution& part : action.each) {
    const T* const head = s.head + part.output;
    T* const to = d + part.output;
    if (part.kind == Kind::kGaussian) AddNumbers(deviations, part, head, s.numbers + part.number, to, &logp);
    if (part.kind == Kind::kBits) AddBits(part, head, s.choice + part.choice, to, &logp, &entropy);
    if (part.kind != Kind::kChoice) continue;
    terms.push_back(ProbabilitiesOf(head, s.mask ? s.mask + part.flag : nullptr, part.n, to));
    logp += head[s.choice[part.choice]] - terms.back().log_sum;
    entropy += terms.back().entropy;
  }
  const T g = PolicyLoss(logp, s.old_logp, s.advantage, static_cast<T>(options.clip), sums) / static_cast<T>(count);
  const T bonus = static_cast<T>(options.entropy_coeff / static_cast<double>(count));
  sums->entropy += entropy;
  Derivatives(action, deviations, terms.data(), s, g, bonus, d, d_log_std);
}

template struct Deviations<float>;
template struct Deviations<double>;
template void ActionLoss(const Distributions&, const Deviations<float>&, const ActionSample<float>&, const LossOptions&,
                         int64_t, float*, double*, LossSums*);
template void ActionLoss(const Distributions&, const Deviations<double>&, const ActionSample<double>&, const LossOptions&,
                         int64_t, double*, double*, LossSums*);

}  // namespace backplane::on_policy
