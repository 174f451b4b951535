// Arithmetic in the order in which numpy does it, so that rewards agree with Gymnasium's bit for bit.
#pragma once

#include <cmath>

namespace mj {

// The value within [low, high]; NaN stays NaN, as with np.clip.
inline double Clip(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

// np.linalg.norm of two or three numbers; its dot product is OpenBLAS's, with fused multiply-add.
inline double Norm(double x, double y) { return std::sqrt(std::fma(y, y, x * x)); }
inline double Norm(double x, double y, double z) { return std::sqrt(std::fma(z, z, std::fma(y, y, x * x))); }

// A numpy scalar to the power of 2: the C library's pow, whose last bit occasionally differs from x * x. The volatile keeps GCC
// from replacing it.
inline double Square(double x) {
  volatile double two = 2;
  return std::pow(x, two);
}

// np.sin and np.cos for Task::Observe, with the names of their results.
struct Sine {
  static constexpr const char* kName = "sine of the ";
  double operator()(double angle) const { return std::sin(angle); }
};
struct Cosine {
  static constexpr const char* kName = "cosine of the ";
  double operator()(double angle) const { return std::cos(angle); }
};

// f(begin) + .. + f(begin + n - 1) in np.sum's order for a contiguous array: eight accumulators, in halves above 128.
template <class Number, class F>
Number Sum(int begin, int n, const F& f) {
  if (n > 128) {
    const int half = n / 2 - (n / 2) % 8;
    return Sum<Number>(begin, half, f) + Sum<Number>(begin + half, n - half, f);
  }
  Number sum = 0;
  int i = 0;
  if (n >= 8) {
    Number r[8];
    for (int k = 0; k < 8; ++k) r[k] = f(begin + k);
    for (i = 8; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += f(begin + i + k);
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) sum += f(begin + i);
  return sum;
}

// weight * np.sum(np.square(action)) for an action of float32 and a weight that is a Python number: float32 throughout.
inline double SquaresOfAction(double weight, const float* action, int n) {
  return static_cast<float>(weight) * Sum<float>(0, n, [=](int i) { return action[i] * action[i]; });
}

// weight * np.sum(np.square(f(0) .. f(n - 1))) in float64.
template <class F>
double Squares(double weight, int n, const F& f) {
  return weight * Sum<double>(0, n, [&](int i) {
           const double value = f(i);
           return value * value;
         });
}

}  // namespace mj
