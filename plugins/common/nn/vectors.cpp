#include "nn/vectors.hpp"

#include <algorithm>
#include <cmath>

#include "nn/simd.hpp"
#include "nn/tanh.hpp"

namespace backplane::nn {
namespace {

// Applies f(i) for each i < n, in a loop that the compiler turns into vector instructions.
#define BP_NN_LOOP(Name, Args, Statement)        \
  template <class T>                             \
  struct Name {                                  \
    template <Isa isa>                           \
    static BP_NN_INLINE void Run Args {          \
      for (int64_t i = 0; i < n; ++i) Statement; \
    }                                            \
  };

BP_NN_LOOP(ReluLoop, (T * x, int64_t n), x[i] = x[i] < 0 ? 0 : x[i])
BP_NN_LOOP(TanhBackwardLoop, (const T* __restrict y, T* __restrict d, int64_t n), d[i] *= 1 - y[i] * y[i])
BP_NN_LOOP(ReluBackwardLoop, (const T* __restrict y, T* __restrict d, int64_t n), d[i] = y[i] <= 0 ? 0 : d[i])
BP_NN_LOOP(SquareLoop, (const T* __restrict x, int64_t n, T* __restrict out), out[i] = x[i] * x[i])
BP_NN_LOOP(AddLoop, (const T* __restrict x, int64_t n, T* __restrict sum), sum[i] += x[i])
BP_NN_LOOP(ScaleLoop, (T factor, int64_t n, T* x), x[i] *= factor)
BP_NN_LOOP(MixLoop, (T rest, T share, const T* __restrict x, int64_t n, T* __restrict y), y[i] = rest * y[i] + share * x[i])

#undef BP_NN_LOOP

template <Isa isa>
BP_NN_INLINE void TanhBlock(float* values) {
  Vec<float, isa> x;
  Load(values, &x);
  TanhOf<isa>(&x);
  Store(x, values);
}

struct TanhLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(float* values, int64_t n) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) TanhBlock<isa>(values + i);
    if (i == n) return;
    float rest[kWidth] = {};
    std::copy(values + i, values + n, rest);
    TanhBlock<isa>(rest);
    std::copy_n(rest, n - i, values + i);
  }
};

template <class T>
struct AddRowsLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const T* __restrict x, int64_t rows, int64_t n, T* __restrict sum) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i) sum[i] += x[r * n + i];
    }
  }
};

// Partial sums over every kStride-th number, the floats of one cache line, so that two threads never read the same line.
template <class T>
struct SquareSumsLoop {
  static constexpr int64_t kSums = SquareSums::kEach, kStride = kSquareParts * kSums;
  template <Isa isa>
  static BP_NN_INLINE void Run(const T* x, int64_t n, double* out) {
    double sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= n; i += kStride) {
      for (int64_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(x[i + k]) * x[i + k];
    }
    for (int64_t k = 0; i + k < n; ++k) sums[k] += static_cast<double>(x[i + k]) * x[i + k];
    for (int64_t k = 0; k < kSums; ++k) out[k] = sums[k];
  }
};

struct NormalizeLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* __restrict in, const double* __restrict mean, const double* __restrict scale,
                               double clip, int64_t n, float* __restrict out) {
    for (int64_t i = 0; i < n; ++i) {
      const double value = (in[i] - mean[i]) * scale[i], low = value < -clip ? -clip : value;
      out[i] = static_cast<float>(low > clip ? clip : low);
    }
  }
};

template <class T>
struct AdamLoop {
  struct Factors {
    T beta1, beta2, rest1, rest2, bias2, eps, rate;
  };
  template <Isa isa>
  static BP_NN_INLINE void Run(Factors f, const T* __restrict g, int64_t n, T* __restrict m, T* __restrict v,
                               T* __restrict values) {
    for (int64_t i = 0; i < n; ++i) {
      m[i] = f.beta1 * m[i] + f.rest1 * g[i];
      v[i] = f.beta2 * v[i] + f.rest2 * g[i] * g[i];
      values[i] -= f.rate * m[i] / (std::sqrt(v[i]) * f.bias2 + f.eps);
    }
  }
};

}  // namespace

template <>
void TanhInPlace(float* values, int64_t n) {
  Dispatch<TanhLoop>(values, n);
}
template <>
void TanhInPlace(double* values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) values[i] = std::tanh(values[i]);
}
template <class T>
void ReluInPlace(T* values, int64_t n) {
  Dispatch<ReluLoop<T>>(values, n);
}
template <class T>
void TanhBackward(const T* y, T* d, int64_t n) {
  Dispatch<TanhBackwardLoop<T>>(y, d, n);
}
template <class T>
void ReluBackward(const T* y, T* d, int64_t n) {
  Dispatch<ReluBackwardLoop<T>>(y, d, n);
}
template <class T>
void Square(const T* x, int64_t n, T* out) {
  Dispatch<SquareLoop<T>>(x, n, out);
}
template <class T>
void Add(const T* x, int64_t n, T* sum) {
  Dispatch<AddLoop<T>>(x, n, sum);
}
template <class T>
void Scale(double factor, int64_t n, T* values) {
  Dispatch<ScaleLoop<T>>(static_cast<T>(factor), n, values);
}
template <class T>
void Mix(double share, const T* x, int64_t n, T* values) {
  Dispatch<MixLoop<T>>(static_cast<T>(1 - share), static_cast<T>(share), x, n, values);
}
template <class T>
void AddRows(const T* x, int64_t rows, int64_t n, T* sum) {
  Dispatch<AddRowsLoop<T>>(x, rows, n, sum);
}
template <class T>
void SquareSums::Add(int64_t part, const T* x, int64_t n) {
  const int64_t begin = part * kEach;
  if (begin < n) Dispatch<SquareSumsLoop<T>>(x + begin, n - begin, of[part]);
}
double SquareSums::Total() const {
  double sum = 0;
  for (const auto& part : of) {
    for (double each : part) sum += each;
  }
  return sum;
}
template <class T>
double SumOfSquares(const T* x, int64_t n) {
  SquareSums sums;
  for (int64_t part = 0; part < kSquareParts; ++part) sums.Add(part, x, n);
  return sums.Total();
}

void Normalize(const float* in, const double* mean, const double* scale, double clip, int64_t n, float* out) {
  Dispatch<NormalizeLoop>(in, mean, scale, clip, n, out);
}

template <class T>
void Adam(const AdamStep& s, const T* gradient, int64_t n, T* m, T* v, T* values) {
  const double bias1 = 1 - std::pow(s.beta1, static_cast<double>(s.step)),
               bias2 = 1 - std::pow(s.beta2, static_cast<double>(s.step));
  const auto as = [](double x) { return static_cast<T>(x); };
  const typename AdamLoop<T>::Factors factors{
      as(s.beta1), as(s.beta2), as(1 - s.beta1), as(1 - s.beta2), as(1 / std::sqrt(bias2)), as(s.eps), as(s.lr / bias1)};
  Dispatch<AdamLoop<T>>(factors, gradient, n, m, v, values);
}

#define BP_NN_INSTANTIATE(T)                                 \
  template void ReluInPlace(T*, int64_t);                    \
  template void TanhBackward(const T*, T*, int64_t);         \
  template void ReluBackward(const T*, T*, int64_t);         \
  template void Square(const T*, int64_t, T*);               \
  template void Add(const T*, int64_t, T*);                  \
  template void Scale(double, int64_t, T*);                  \
  template void Mix(double, const T*, int64_t, T*);          \
  template void AddRows(const T*, int64_t, int64_t, T*);     \
  template double SumOfSquares(const T*, int64_t);           \
  template void SquareSums::Add(int64_t, const T*, int64_t); \
  template void Adam(const AdamStep&, const T*, int64_t, T*, T*, T*);
BP_NN_INSTANTIATE(float)
BP_NN_INSTANTIATE(double)
#undef BP_NN_INSTANTIATE

}  // namespace backplane::nn
