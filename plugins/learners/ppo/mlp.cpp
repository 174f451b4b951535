#include "mlp.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backplane/rng.h"

// The loader picks the widest version the processor has. With fused multiply-add the last bits differ between processors, but
// never between threads, calls or row ranges. Sanitizers cannot run code before they start, so they get one version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define BP_CLONES __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define BP_CLONES
#endif

namespace backplane::ppo {
namespace {

constexpr int64_t kWidth = 16;
typedef float Vec __attribute__((vector_size(kWidth * sizeof(float))));

Mlp Chain(const std::vector<int64_t>& sizes, Net* net) {
  Mlp mlp;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    const int64_t in = sizes[i], out = sizes[i + 1];
    mlp.push_back({in, out, net->size, net->size + in * out});
    net->size += (in + 1) * out;
    net->widest = std::max(net->widest, out);
  }
  return mlp;
}

// Orthonormal columns (or rows, if there are more columns) by modified Gram-Schmidt, each projection done twice: the Q of a QR
// decomposition whose R has a positive diagonal. `vectors` vectors of `length` elements.
std::vector<double> Orthonormal(bp_rng* rng, int64_t vectors, int64_t length) {
  std::vector<double> q(vectors * length);
  for (double& x : q) x = bp_rng_normal(rng);
  for (int64_t i = 0; i < vectors; ++i) {
    double* v = &q[i * length];
    for (int64_t pass = 0; pass < 2 * i; ++pass) {
      const double* u = &q[pass % i * length];
      double dot = 0;
      for (int64_t k = 0; k < length; ++k) dot += u[k] * v[k];
      for (int64_t k = 0; k < length; ++k) v[k] -= dot * u[k];
    }
    double norm = 0;
    for (int64_t k = 0; k < length; ++k) norm += v[k] * v[k];
    for (int64_t k = 0; k < length; ++k) v[k] /= std::sqrt(norm);
  }
  return q;
}

void InitLayer(const Layer& layer, double gain, bool orthogonal, uint64_t key, float* params) {
  bp_rng rng{key, 0};
  float* w = params + layer.weight;
  std::fill_n(params + layer.bias, layer.out, 0.0f);
  if (!orthogonal) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(layer.in));
    for (int64_t i = 0; i < layer.in * layer.out; ++i) w[i] = static_cast<float>(bp_rng_range(&rng, -bound, bound));
    return;
  }
  const bool by_row = layer.in < layer.out;  // the shorter side counts the vectors
  const std::vector<double> q = Orthonormal(&rng, std::min(layer.in, layer.out), std::max(layer.in, layer.out));
  for (int64_t i = 0; i < layer.in; ++i) {
    for (int64_t j = 0; j < layer.out; ++j) {
      w[i * layer.out + j] = static_cast<float>(gain * (by_row ? q[i * layer.out + j] : q[j * layer.in + i]));
    }
  }
}

// y = x w + b. Each output adds its products in the order of the inputs, so a row's result is its own.
BP_CLONES void Linear(const float* x, const float* w, const float* b, float* y, int64_t rows, int64_t in, int64_t out) {
  for (int64_t r = 0; r < rows; r += kRowBlock) {
    const float *x0 = x + r * in, *x1 = x0 + in, *x2 = x1 + in, *x3 = x2 + in;
    int64_t j = 0;
    for (; j + kWidth <= out; j += kWidth) {
      Vec a0, a1, a2, a3, v;
      std::memcpy(&a0, b + j, sizeof a0);
      a1 = a2 = a3 = a0;
      for (int64_t i = 0; i < in; ++i) {
        std::memcpy(&v, w + i * out + j, sizeof v);
        a0 += x0[i] * v, a1 += x1[i] * v, a2 += x2[i] * v, a3 += x3[i] * v;
      }
      std::memcpy(y + r * out + j, &a0, sizeof v), std::memcpy(y + (r + 1) * out + j, &a1, sizeof v);
      std::memcpy(y + (r + 2) * out + j, &a2, sizeof v), std::memcpy(y + (r + 3) * out + j, &a3, sizeof v);
    }
    for (; j < out; ++j) {
      float a0 = b[j], a1 = a0, a2 = a0, a3 = a0;
      for (int64_t i = 0; i < in; ++i) {
        const float v = w[i * out + j];
        a0 += x0[i] * v, a1 += x1[i] * v, a2 += x2[i] * v, a3 += x3[i] * v;
      }
      y[r * out + j] = a0, y[(r + 1) * out + j] = a1, y[(r + 2) * out + j] = a2, y[(r + 3) * out + j] = a3;
    }
  }
}

// The coefficients of Eigen's ptanh_float.
BP_CLONES void TanhBlocks(float* values, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) {
    Vec x;
    std::memcpy(&x, values + i * kWidth, sizeof x);
    const Vec limit = Vec{} + 7.90531110763549805f;
    x = x > limit ? limit : x;
    x = x < -limit ? -limit : x;
    const Vec s = x * x;
    Vec p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
    p = p * s - 8.60467152213735e-11f;
    p = p * s + 5.12229709037114e-08f;
    p = p * s + 1.48572235717979e-05f;
    p = p * s + 6.37261928875436e-04f;
    p = p * s + 4.89352455891786e-03f;
    Vec q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
    q = q * s + 2.26843463243900e-03f;
    q = q * s + 4.89352518554385e-03f;
    x = x * p / q;
    std::memcpy(values + i * kWidth, &x, sizeof x);
  }
}

}  // namespace

Net::Net(int64_t obs_size, const std::vector<int64_t>& hidden, int64_t n_actions, bool discrete_actions, Activation act)
    : obs(obs_size), actions(n_actions), discrete(discrete_actions), activation(act) {
  std::vector<int64_t> sizes{obs};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(actions);
  actor = Chain(sizes, this);
  sizes.back() = 1;
  critic = Chain(sizes, this);
  if (!discrete) log_std = size, size += actions;
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params) {
  uint64_t layer_number = 0;
  for (const Mlp* mlp : {&net.actor, &net.critic}) {
    for (const Layer& layer : *mlp) {
      const double head = mlp == &net.actor ? 0.01 : 1.0;
      const double gain = &layer == &mlp->back() ? head : std::sqrt(2.0);
      InitLayer(layer, gain, orthogonal, bp_seed(seed, BP_PURPOSE_LEARNER, 1, layer_number++), params);
    }
  }
  if (net.log_std >= 0) std::fill_n(params + net.log_std, net.actions, static_cast<float>(log_std));
}

void TanhInPlace(float* values, int64_t n) {
  TanhBlocks(values, n / kWidth);
  float tail[kWidth] = {};
  const int64_t done = n / kWidth * kWidth;
  std::copy(values + done, values + n, tail);
  TanhBlocks(tail, 1);
  std::copy(tail, tail + (n - done), values + done);
}

void Forward(const Mlp& mlp, Activation activation, const float* params, const float* x, int64_t rows, Scratch* scratch,
             float* out) {
  int64_t widest = 0;
  for (const Layer& layer : mlp) widest = std::max(widest, layer.out);
  scratch->a.resize(std::max<size_t>(scratch->a.size(), rows * widest));
  scratch->b.resize(std::max<size_t>(scratch->b.size(), rows * widest));
  float *to = scratch->a.data(), *other = scratch->b.data();
  for (const Layer& layer : mlp) {
    const bool last = &layer == &mlp.back();
    float* y = last ? out : to;
    Linear(x, params + layer.weight, params + layer.bias, y, rows, layer.in, layer.out);
    if (last) return;
    const int64_t n = rows * layer.out;
    if (activation == Activation::kTanh) {
      TanhInPlace(y, n);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = std::max(y[i], 0.0f);
    }
    x = y;
    std::swap(to, other);
  }
}

}  // namespace backplane::ppo
