#include "nn/rowwise.hpp"

#include <algorithm>
#include <cmath>

#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

// The lanes of a register added up, halves onto halves.
template <Isa isa>
BP_NN_INLINE float SumOf(const Vec<float, isa>& v) {
  if constexpr (kLanes<float, isa> == 16) {
    const auto eight =
        __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    const auto two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
    return two[0] + two[1];
  } else if constexpr (kLanes<float, isa> == 8) {
    const auto four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const auto two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
    return two[0] + two[1];
  } else {
    const auto two = v + __builtin_shufflevector(v, v, 2, 3, 2, 3);
    return two[0] + two[1];
  }
}

// Runs Body::Block on whole registers, and on a filled-up one for the rest: an element's result does not depend on its place.
template <class Body>
struct InPlace {
  template <Isa isa>
  static BP_NN_INLINE void Run(float* values, int64_t n) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) Body::template Block<isa>(values + i);
    if (i == n) return;
    float rest[kWidth] = {};
    std::copy(values + i, values + n, rest);
    Body::template Block<isa>(rest);
    std::copy_n(rest, n - i, values + i);
  }
};

// Cephes' expf (Moshier): 2^k e^r with |r| <= log(2) / 2.
struct ExpBody {
  template <Isa isa>
  static BP_NN_INLINE void Block(float* values) {
    using V = Vec<float, isa>;
    typedef int32_t Ints __attribute__((vector_size(kBytes<isa>)));
    V x;
    Load(values, &x);
    const V least = V{} - 87.3f, most = V{} + 88.0f;
    x = x < least ? least : x;
    x = x > most ? most : x;
    constexpr float kRounds = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction
    const V k = (x * 1.44269504088896341f + kRounds) - kRounds;
    const V r = x - k * 0.693359375f + k * 2.12194440e-4f;
    V p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const Ints bits = (__builtin_convertvector(k, Ints) + 127) << 23;
    V power;
    std::memcpy(&power, &bits, sizeof power);
    Store((p * r * r + r + 1.0f) * power, values);
  }
};

// erf by the rational function of Eigen (generic_fast_erf).
struct GeluBody {
  template <Isa isa>
  static BP_NN_INLINE void Block(float* values) {
    using V = Vec<float, isa>;
    V x;
    Load(values, &x);
    const V limit = V{} + 4.0f;
    V z = x * 0.70710678118654752f;
    z = z > limit ? limit : z;
    z = z < -limit ? -limit : z;
    const V s = z * z;
    V p = s * -2.72614225801306e-10f + 2.77068142495902e-08f;
    p = p * s - 2.10102402082508e-06f;
    p = p * s - 5.69250639462346e-05f;
    p = p * s - 7.34990630326855e-04f;
    p = p * s - 2.95459980854025e-03f;
    p = p * s - 1.60960333262415e-02f;
    V q = s * -1.45660718464996e-05f - 2.13374055278905e-04f;
    q = q * s - 1.68282697438203e-03f;
    q = q * s - 7.37332916720468e-03f;
    q = q * s - 1.42647390514189e-02f;
    Store(x * 0.5f * (1.0f + z * p / q), values);
  }
};

// What does not fill a register is filled up: with zeros, or with `rest`.
template <Isa isa>
BP_NN_INLINE void LoadUpTo(const float* from, int64_t n, float rest, Vec<float, isa>* to) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  if (n >= kWidth) return Load(from, to);
  float part[kWidth];
  std::fill_n(part, kWidth, rest);
  std::copy_n(from, n, part);
  Load(part, to);
}

struct Exponentials {
  float largest, sum;
};

// x = exp(x - the largest of them).
template <Isa isa>
BP_NN_INLINE Exponentials ExpOfRow(int64_t n, float* x) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  Vec<float, isa> most = Vec<float, isa>{} + x[0], next, sum = {};
  for (int64_t i = 0; i < n; i += kWidth) {
    LoadUpTo<isa>(x + i, n - i, x[0], &next);
    most = next > most ? next : most;
  }
  float lanes[kWidth];
  Store(most, lanes);
  float largest = lanes[0];
  for (int64_t i = 1; i < kWidth; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  for (int64_t i = 0; i < n; ++i) x[i] -= largest;
  InPlace<ExpBody>::Run<isa>(x, n);
  for (int64_t i = 0; i < n; i += kWidth) {
    LoadUpTo<isa>(x + i, n - i, 0, &next);
    sum += next;
  }
  return {largest, SumOf<isa>(sum)};
}

struct SoftmaxRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(int64_t rows, int64_t n, float* values) {
    for (float* x = values; x < values + rows * n; x += n) {
      const float scale = 1 / ExpOfRow<isa>(n, x).sum;
      for (int64_t i = 0; i < n; ++i) x[i] *= scale;
    }
  }
};

struct LogSumExpRow {
  template <Isa isa>
  static BP_NN_INLINE void Run(int64_t n, float* values, double* out) {
    const Exponentials row = ExpOfRow<isa>(n, values);
    *out = std::log(double{row.sum}) + row.largest;
  }
};

struct LayerNormRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n,
                               float* out) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    const auto count = static_cast<float>(n);
    for (int64_t r = 0; r < rows; ++r, x += n, out += n) {
      Vec<float, isa> next, sum = {}, squares = {};
      for (int64_t i = 0; i < n; i += kWidth) {
        LoadUpTo<isa>(x + i, n - i, 0, &next);
        sum += next;
      }
      const float mean = SumOf<isa>(sum) / count;
      for (int64_t i = 0; i < n; i += kWidth) {
        LoadUpTo<isa>(x + i, n - i, mean, &next);
        squares += (next - mean) * (next - mean);
      }
      const float scale = 1 / std::sqrt(SumOf<isa>(squares) / count + epsilon);
      for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
    }
  }
};

struct DotRowsLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* query, const float* const* rows, int64_t length, int64_t heads, int64_t width,
                               float* scores) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    for (int64_t j = 0; j < length; ++j) {
      const float *q = query, *row = rows[j];
      for (int64_t h = 0; h < heads; ++h, q += width, row += width) {
        Vec<float, isa> a, b, sum = {};
        for (int64_t i = 0; i < width; i += kWidth) {
          LoadUpTo<isa>(q + i, width - i, 0, &a);
          LoadUpTo<isa>(row + i, width - i, 0, &b);
          sum += a * b;
        }
        scores[h * length + j] = SumOf<isa>(sum);
      }
    }
  }
};

struct SumRowsLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* shares, const float* const* rows, int64_t length, int64_t heads, int64_t width,
                               float* __restrict out) {
    std::fill_n(out, heads * width, 0.0f);
    for (int64_t j = 0; j < length; ++j) {
      const float* row = rows[j];
      for (int64_t h = 0; h < heads; ++h) {
        const float share = shares[h * length + j];
        for (int64_t i = h * width; i < (h + 1) * width; ++i) out[i] += share * row[i];
      }
    }
  }
};

}  // namespace

void Softmax(int64_t rows, int64_t n, float* values) { Dispatch<SoftmaxRows>(rows, n, values); }

double LogSumExp(int64_t n, float* values) {
  double out;
  Dispatch<LogSumExpRow>(n, values, &out);
  return out;
}

void LayerNorm(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n, float* out) {
  Dispatch<LayerNormRows>(x, weight, bias, epsilon, rows, n, out);
}

void GeluInPlace(float* values, int64_t n) { Dispatch<InPlace<GeluBody>>(values, n); }

void DotRows(const float* query, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* scores) {
  Dispatch<DotRowsLoop>(query, rows, length, heads, width, scores);
}

void SumRows(const float* shares, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* out) {
  Dispatch<SumRowsLoop>(shares, rows, length, heads, width, out);
}

}  // namespace backplane::nn
