// A Gaussian squashed by tanh (Haarnoja et al., arXiv 1801.01290, appendix C): a = tanh(u) with u = mean + exp(log_std) *
// noise. Its density refers to actions in [-1, 1] and is computed from u, because a is rounded to 1 or -1 if u is large.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace backplane::sac {

// Limits of log_std, as in Stable-Baselines3. Beyond them its gradient is 0.
constexpr double kLeastLogStd = -20, kMostLogStd = 2;

// ln(1 - tanh(u)^2) = 2 (ln 2 - u - softplus(-2u)), which is even: finite for every u.
template <class T>
T LogSlope(T u) {
  constexpr T kLn2 = T(0.69314718055994530942);
  const T size = std::abs(u);
  return 2 * (kLn2 - size - std::log1p(std::exp(-2 * size)));
}

template <class T>
T LimitedLogStd(T log_std) {
  return std::clamp(log_std, T(kLeastLogStd), T(kMostLogStd));
}

// One action of n numbers from a head of n means and n log_stds: writes u [n] and returns ln p(tanh(u)).
template <class T>
T Squashed(const T* head, const T* noise, int64_t n, T* u) {
  constexpr T kHalfLog2Pi = T(0.91893853320467274178);
  T logp = 0;
  for (int64_t k = 0; k < n; ++k) {
    const T log_std = LimitedLogStd(head[n + k]);
    u[k] = head[k] + std::exp(log_std) * noise[k];
    logp -= noise[k] * noise[k] * T(.5) + log_std + kHalfLog2Pi + LogSlope(u[k]);
  }
  return logp;
}

// The derivative of factor * (alpha ln p(a) - Q(a)) at the head, given a = tanh(u) and dq = dQ/da, [n] each.
template <class T>
void SquashedBackward(const T* head, const T* noise, const T* a, const T* dq, int64_t n, T alpha, T factor, T* d_head) {
  for (int64_t k = 0; k < n; ++k) {
    const T log_std = head[n + k];
    const bool limited = log_std < T(kLeastLogStd) || log_std > T(kMostLogStd);
    const T d_u = factor * (2 * alpha * a[k] - dq[k] * (1 - a[k] * a[k]));  // d ln p / du = 2 tanh(u)
    d_head[k] = d_u;
    d_head[n + k] = limited ? T(0) : d_u * std::exp(log_std) * noise[k] - factor * alpha;
  }
}

}  // namespace backplane::sac
