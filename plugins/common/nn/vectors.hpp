// Loops over arrays, compiled for the processor's vector instructions (simd.hpp).
#pragma once

#include <cstdint>

namespace backplane::nn {

// Both keep NaN, so that it reaches the loss and is noticed.
// tanh in float: Eigen's rational approximation, within a few units in the last place and several times faster than libm's.
template <class T>
void TanhInPlace(T* values, int64_t n);
template <>
void TanhInPlace(float* values, int64_t n);
template <>
void TanhInPlace(double* values, int64_t n);
template <class T>
void ReluInPlace(T* values, int64_t n);

// d *= the derivative, for the function's results y.
template <class T>
void TanhBackward(const T* y, T* d, int64_t n);
template <class T>
void ReluBackward(const T* y, T* d, int64_t n);

template <class T>
void Square(const T* x, int64_t n, T* out);
template <class T>
void Add(const T* x, int64_t n, T* sum);  // sum += x
template <class T>
void Scale(double factor, int64_t n, T* values);
template <class T>
void Mix(double share, const T* x, int64_t n, T* values);  // values = (1 - share) * values + share * x
// sum [n] += the rows of x [rows, n]
template <class T>
void AddRows(const T* x, int64_t rows, int64_t n, T* sum);
// In double, in an order that depends only on n.
template <class T>
double SumOfSquares(const T* x, int64_t n);
// The same by several threads: SumOfSquares = TotalOf(parts), each of which Add has been called for once.
constexpr int64_t kSquareParts = 2;
struct SquareSums {
  static constexpr int64_t kEach = 16;
  double of[kSquareParts][kEach] = {};
  // Squares x[i] of the i whose place in a run of kSquareParts * kEach belongs to the part.
  template <class T>
  void Add(int64_t part, const T* x, int64_t n);
  double Total() const;
};

// out = (in - mean) * scale, clipped to +-clip; the difference is in double, because the mean may be far from 0.
void Normalize(const float* in, const double* mean, const double* scale, double clip, int64_t n, float* out);

struct AdamStep {
  double lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-5;
  int64_t step;  // from 1
};
// One step of Adam as torch.optim.Adam computes it, without weight decay; arrays [n].
template <class T>
void Adam(const AdamStep& step, const T* gradient, int64_t n, T* m, T* v, T* values);

}  // namespace backplane::nn
