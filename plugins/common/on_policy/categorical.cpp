#include "on_policy/categorical.hpp"

#include <cmath>

#include "backplane/plugin.hpp"

namespace backplane::on_policy {

int32_t DrawCategorical(const float* logits, const uint8_t* mask, int64_t n, bp_rng* rng, double* out_logp) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if ((!mask || mask[i]) && (best < 0 || logits[i] > logits[best])) best = i;
  }
  if (best < 0) throw bp::Error(BP_E_INVALID_ARG, "an action mask allows no choice");
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!mask || mask[i]) sum += std::exp(static_cast<double>(logits[i]) - logits[best]);
  }
  int64_t choice = best;
  if (rng) {
    double left = bp_rng_uniform(rng) * sum;
    for (int64_t i = 0; i < n && left >= 0; ++i) {
      if (mask && !mask[i]) continue;
      choice = i;
      left -= std::exp(static_cast<double>(logits[i]) - logits[best]);
    }
  }
  *out_logp = static_cast<double>(logits[choice]) - logits[best] - std::log(sum);
  return static_cast<int32_t>(choice);
}

double DrawBits(const float* logits, int64_t n, bp_rng* rng, uint8_t* out) {
  double logp = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = logits[i];
    out[i] = rng ? bp_rng_uniform(rng) * (1 + std::exp(-x)) < 1 : x > 0;
    const double other = out[i] ? -x : x;  // the logit of the value that was not taken
    logp -= (other > 0 ? other : 0) + std::log1p(std::exp(-std::abs(other)));
  }
  return logp;
}

}  // namespace backplane::on_policy
