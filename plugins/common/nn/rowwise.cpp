#include "nn/rowwise.hpp"

#include <algorithm>
#include <cmath>

#include "nn/row_parts.hpp"

namespace backplane::nn {
namespace {

struct GeluLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(float* values, int64_t n) {
    EachInPlace<isa, GeluBody>(values, n);
  }
};

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
    for (int64_t r = 0; r < rows; ++r, x += n, out += n) {
      const auto [mean, scale] = MomentsOf<isa>(x, n, epsilon);
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

void GeluInPlace(float* values, int64_t n) { Dispatch<GeluLoop>(values, n); }

void DotRows(const float* query, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* scores) {
  Dispatch<DotRowsLoop>(query, rows, length, heads, width, scores);
}

void SumRows(const float* shares, const float* const* rows, int64_t length, int64_t heads, int64_t width, float* out) {
  Dispatch<SumRowsLoop>(shares, rows, length, heads, width, out);
}

}  // namespace backplane::nn
