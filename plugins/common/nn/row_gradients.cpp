#include "nn/row_gradients.hpp"

#include <cmath>

#include "nn/row_parts.hpp"

namespace backplane::nn {
namespace {

struct SoftmaxBackwardRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* shares, int64_t rows, int64_t n, float* d) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    for (int64_t r = 0; r < rows; ++r) {
      const float* __restrict s = shares + r * n;
      float* __restrict to = d + r * n;
      Vec<float, isa> a, b, sum = {};
      for (int64_t i = 0; i < n; i += kWidth) {
        LoadUpTo<isa>(s + i, n - i, 0, &a);
        LoadUpTo<isa>(to + i, n - i, 0, &b);
        sum += a * b;
      }
      const float mean = SumOf<isa>(sum);
      for (int64_t i = 0; i < n; ++i) to[i] = s[i] * (to[i] - mean);
    }
  }
};

struct ScaledSoftmaxRow {
  template <Isa isa>
  static BP_NN_INLINE void Run(int64_t n, float scale, float* values, double* out) {
    const Exponentials row = ExpOfRow<isa>(n, values);
    const float factor = scale / row.sum;
    for (int64_t i = 0; i < n; ++i) values[i] *= factor;
    *out = std::log(double{row.sum}) + row.largest;
  }
};

struct AddLayerNormRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n,
                               float* y, float* scales, float* out) {
    for (int64_t r = 0; r < rows; ++r) {
      float* __restrict hat = y + r * n;
      if (x) {
        const float* __restrict more = x + r * n;
        for (int64_t i = 0; i < n; ++i) hat[i] += more[i];
      }
      const auto [mean, scale] = MomentsOf<isa>(hat, n, epsilon);
      scales[r] = scale;
      const float* __restrict w = weight, * __restrict b = bias;
      float* __restrict to = out + r * n;
      for (int64_t i = 0; i < n; ++i) {
        hat[i] = (hat[i] - mean) * scale;
        to[i] = hat[i] * w[i] + b[i];
      }
    }
  }
};

struct LayerNormBackwardRows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* hats, const float* scales, const float* weight, int64_t rows, int64_t n, float* ds,
                               float* d_weight, float* d_bias) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    const auto count = static_cast<float>(n);
    for (int64_t r = 0; r < rows; ++r) {
      const float* __restrict hat = hats + r * n, * __restrict w = weight;
      float* __restrict d = ds + r * n, * __restrict dw = d_weight, * __restrict db = d_bias;
      Vec<float, isa> h, g, v, sum = {}, along = {};
      for (int64_t i = 0; i < n; i += kWidth) {
        LoadUpTo<isa>(hat + i, n - i, 0, &h);
        LoadUpTo<isa>(d + i, n - i, 0, &g);
        LoadUpTo<isa>(w + i, n - i, 0, &v);
        g *= v;
        sum += g;
        along += g * h;
      }
      const float scale = scales[r], mean = SumOf<isa>(sum) / count, slope = SumOf<isa>(along) / count;
      for (int64_t i = 0; i < n; ++i) {
        dw[i] += d[i] * hat[i];
        db[i] += d[i];
        d[i] = scale * (d[i] * w[i] - mean - hat[i] * slope);
      }
    }
  }
};

struct GeluAndSlopeLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(float* __restrict x, int64_t n, float* __restrict out) {
    constexpr float kDensity = 0.39894228040143268f;  // of the normal distribution at 0
    for (int64_t i = 0; i < n; ++i) {
      const float share = 0.5f * (1.0f + ErfOfRoot(x[i]));
      out[i] = x[i] * share;
      x[i] = share + x[i] * kDensity * ExpOf(-0.5f * x[i] * x[i]);
    }
  }
};

struct MultiplyByLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* __restrict factors, int64_t n, float* __restrict values) {
    for (int64_t i = 0; i < n; ++i) values[i] *= factors[i];
  }
};

// 32 bits for each place by Wellons' hash (lowbias32).
struct DropLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(uint32_t low, uint32_t high, uint32_t below, float scale, int64_t n, float* values) {
    uint32_t at = low;
    for (int64_t i = 0; i < n; ++i, at += 0x9E3779B9u) {
      uint32_t h = at ^ high;
      h ^= h >> 16;
      h *= 0x7FEB352Du;
      h ^= h >> 15;
      h *= 0x846CA68Bu;
      h ^= h >> 16;
      values[i] = h < below ? 0.0f : values[i] * scale;
    }
  }
};

}  // namespace

void SoftmaxBackward(const float* shares, int64_t rows, int64_t n, float* d) {
  Dispatch<SoftmaxBackwardRows>(shares, rows, n, d);
}

double ScaledSoftmax(int64_t n, float scale, float* values) {
  double out;
  Dispatch<ScaledSoftmaxRow>(n, scale, values, &out);
  return out;
}

void AddLayerNorm(const float* x, const float* weight, const float* bias, float epsilon, int64_t rows, int64_t n, float* y,
                  float* scales, float* out) {
  Dispatch<AddLayerNormRows>(x, weight, bias, epsilon, rows, n, y, scales, out);
}

void LayerNormBackward(const float* hat, const float* scales, const float* weight, int64_t rows, int64_t n, float* d,
                       float* d_weight, float* d_bias) {
  Dispatch<LayerNormBackwardRows>(hat, scales, weight, rows, n, d, d_weight, d_bias);
}

void GeluAndSlope(float* x, int64_t n, float* out) { Dispatch<GeluAndSlopeLoop>(x, n, out); }

void MultiplyBy(const float* factors, int64_t n, float* values) { Dispatch<MultiplyByLoop>(factors, n, values); }

void DropFrom(uint64_t key, double p, int64_t n, float* values) {
  Dispatch<DropLoop>(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(p * 0x1p32),
                     static_cast<float>(1 / (1 - p)), n, values);
}

}  // namespace backplane::nn
