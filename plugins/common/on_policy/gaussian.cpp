#include "on_policy/gaussian.hpp"

#include <cmath>

namespace backplane::on_policy {

void FillNormals(uint64_t key, int64_t n, double* out) {
  const uint32_t keys[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  for (int64_t i = 0; i < n; i += 2) {
    const uint32_t counter[4] = {static_cast<uint32_t>(i / 2), 0, 0, 0};
    uint32_t words[4];
    bp_philox4x32(counter, keys, words);
    // Box and Muller; 32 bits each suffice for float32 actions, and u is never 0.
    const double u = (words[0] + 0.5) * 0x1.0p-32, angle = 6.283185307179586 * (words[1] * 0x1.0p-32);
    const double radius = std::sqrt(-2 * std::log(u));
    out[i] = radius * std::cos(angle);
    if (i + 1 < n) out[i + 1] = radius * std::sin(angle);
  }
}

double GaussianLogp(const float* x, const float* mean, const double* std, int64_t n) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  double squares = 0, volume = 1;  // one logarithm of the product instead of n; 8 deviations cannot leave a double's range
  double logp = -kHalfLog2Pi * static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double z = (static_cast<double>(x[i]) - mean[i]) / std[i];
    squares += z * z, volume *= std[i];
    if (i % 8 == 7 || i + 1 == n) logp -= std::log(volume), volume = 1;
  }
  return logp - 0.5 * squares;
}

double DrawGaussian(const float* mean, const double* std, const double* noise, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(mean[i] + (noise ? std[i] * noise[i] : 0.0));
  return GaussianLogp(out, mean, std, n);
}

}  // namespace backplane::on_policy
