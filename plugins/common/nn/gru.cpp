#include "nn/gru.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "nn/row_parts.hpp"
#include "nn/tanh.hpp"
#include "nn/vectors.hpp"

namespace backplane::nn {
namespace {

template <Isa isa>
BP_NN_INLINE void SigmoidOf(Vec<float, isa>* value) {
  *value *= 0.5f;
  TanhOf<isa>(value);
  *value = *value * 0.5f + 0.5f;
}

template <Isa isa>
BP_NN_INLINE void StoreUpTo(const Vec<float, isa>& from, int64_t n, float* to) {
  constexpr int64_t kWidth = kLanes<float, isa>;
  if (n >= kWidth) return Store(from, to);
  float part[kWidth];
  Store(from, part);
  std::copy_n(part, n, to);
}

// Rows of one entry: [rows, n] and for gates and sums [rows, 3 n].
template <class T>
struct Entry {
  int64_t rows, n;
  T *gates, *sums, *before, *state, *d;
};

// gates: from the input's sums to r, z, n.
struct GatesLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const Entry<float>* entry) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    const auto [rows, n, gates, sums, before, state, d] = *entry;
    for (int64_t row = 0; row < rows; ++row) {
      float* const g = gates + row * 3 * n;
      const float* const s = sums + row * 3 * n;
      for (int64_t i = 0; i < n; i += kWidth) {
        const int64_t left = n - i;
        Vec<float, isa> r, z, c, sr, sz, sc, old;
        LoadUpTo<isa>(g + i, left, 0, &r), LoadUpTo<isa>(s + i, left, 0, &sr);
        LoadUpTo<isa>(g + n + i, left, 0, &z), LoadUpTo<isa>(s + n + i, left, 0, &sz);
        LoadUpTo<isa>(g + 2 * n + i, left, 0, &c), LoadUpTo<isa>(s + 2 * n + i, left, 0, &sc);
        LoadUpTo<isa>(before + row * n + i, left, 0, &old);
        r += sr, z += sz;
        SigmoidOf<isa>(&r), SigmoidOf<isa>(&z);
        c += r * sc;
        TanhOf<isa>(&c);
        StoreUpTo<isa>(r, left, g + i), StoreUpTo<isa>(z, left, g + n + i), StoreUpTo<isa>(c, left, g + 2 * n + i);
        StoreUpTo<isa>(c + z * (old - c), left, state + row * n + i);
      }
    }
  }
};

// From d at `state` to the derivatives at both layers' sums, in gates and sums; d becomes the direct part at `before`.
struct GatesBackwardLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(const Entry<float>* entry) {
    constexpr int64_t kWidth = kLanes<float, isa>;
    const auto [rows, n, gates, sums, before, state, d] = *entry;
    for (int64_t row = 0; row < rows; ++row) {
      float *const g = gates + row * 3 * n, *const s = sums + row * 3 * n, *const to = d + row * n;
      for (int64_t i = 0; i < n; i += kWidth) {
        const int64_t left = n - i;
        Vec<float, isa> r, z, c, sc, old, up;
        LoadUpTo<isa>(g + i, left, 0, &r), LoadUpTo<isa>(g + n + i, left, 0, &z), LoadUpTo<isa>(g + 2 * n + i, left, 0, &c);
        LoadUpTo<isa>(s + 2 * n + i, left, 0, &sc);
        LoadUpTo<isa>(before + row * n + i, left, 0, &old), LoadUpTo<isa>(to + i, left, 0, &up);
        const Vec<float, isa> dc = up * (1 - z) * (1 - c * c), dz = up * (old - c) * z * (1 - z), dr = dc * sc * r * (1 - r);
        StoreUpTo<isa>(dr, left, g + i), StoreUpTo<isa>(dz, left, g + n + i), StoreUpTo<isa>(dc, left, g + 2 * n + i);
        StoreUpTo<isa>(dr, left, s + i), StoreUpTo<isa>(dz, left, s + n + i), StoreUpTo<isa>(dc * r, left, s + 2 * n + i);
        StoreUpTo<isa>(up * z, left, to + i);
      }
    }
  }
};

void Gates(const Entry<float>& entry) { Dispatch<GatesLoop>(&entry); }
void GatesBackward(const Entry<float>& entry) { Dispatch<GatesBackwardLoop>(&entry); }

// In double, for comparisons with reference numbers.
void Gates(const Entry<double>& e) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (int64_t row = 0; row < e.rows; ++row) {
    double *r = e.gates + row * 3 * e.n, *z = r + e.n, *c = z + e.n;
    const double* s = e.sums + row * 3 * e.n;
    for (int64_t i = 0; i < e.n; ++i) {
      r[i] = sigmoid(r[i] + s[i]), z[i] = sigmoid(z[i] + s[e.n + i]);
      c[i] = std::tanh(c[i] + r[i] * s[2 * e.n + i]);
      e.state[row * e.n + i] = c[i] + z[i] * (e.before[row * e.n + i] - c[i]);
    }
  }
}
void GatesBackward(const Entry<double>& e) {
  for (int64_t row = 0; row < e.rows; ++row) {
    double *r = e.gates + row * 3 * e.n, *z = r + e.n, *c = z + e.n, *s = e.sums + row * 3 * e.n, *d = e.d + row * e.n;
    for (int64_t i = 0; i < e.n; ++i) {
      const double dc = d[i] * (1 - z[i]) * (1 - c[i] * c[i]);
      const double dz = d[i] * (e.before[row * e.n + i] - c[i]) * z[i] * (1 - z[i]);
      const double dr = dc * s[2 * e.n + i] * r[i] * (1 - r[i]);
      d[i] *= z[i];
      s[i] = dr, s[e.n + i] = dz, s[2 * e.n + i] = dc * r[i];
      r[i] = dr, z[i] = dz, c[i] = dc;
    }
  }
}

// The rows of an entry, which begin at `at`.
template <class T>
Entry<T> EntryAt(const Gru& gru, int64_t at, int64_t rows, GruWork<T>* w) {
  const int64_t n = gru.size;
  T* const d = w->d.empty() ? nullptr : w->d.data() + at * n;
  return {
      rows, n, w->gates.data() + at * 3 * n, w->sums.data() + at * 3 * n, w->before.data() + at * n, w->state.data() + at * n,
      d};
}

}  // namespace

Gru MakeGru(int64_t inputs, int64_t size, int64_t* end) {
  Gru gru{size, {inputs, 3 * size}, {size, 3 * size}};
  for (Layer* layer : {&gru.input, &gru.hidden}) {
    layer->weight = *end, layer->bias = *end + layer->in * layer->out;
    *end += (layer->in + 1) * layer->out;
  }
  return gru;
}

void InitGru(const Gru& gru, bool orthogonal, uint64_t key, float* params) {
  InitLayer(gru.input, 1, orthogonal, bp_seed(key, BP_PURPOSE_LEARNER, 0, 0), params);
  InitLayer(gru.hidden, 1, orthogonal, bp_seed(key, BP_PURPOSE_LEARNER, 0, 1), params);
}

void TellGru(const Gru& gru, const std::string& name, const float* params, bp::NamedTensors* out) {
  TellLayer(gru.input, name + ".input", params, true, out);
  TellLayer(gru.hidden, name + ".hidden", params, true, out);
}

template <class T>
void GruWork<T>::Reserve(const Gru& gru, int64_t rows, bool backward) {
  const auto grow = [rows](std::vector<T>* buffer, int64_t columns) {
    if (buffer->size() < static_cast<size_t>(rows * columns)) buffer->resize(rows * columns);
  };
  for (auto* each : {&before, &state}) grow(each, gru.size);
  for (auto* each : {&gates, &sums}) grow(each, 3 * gru.size);
  if (backward) grow(&d, gru.size);
}

template <class T>
void GruForward(const Gru& gru, const PackedGru<T>& weights, const T* params, const T* x, const Sequences& sequences,
                GruWork<T>* w) {
  const int64_t all = std::accumulate(sequences.entries.begin(), sequences.entries.end(), int64_t{0}), n = gru.size;
  if (x) Multiply(x, weights.input.forward, params + gru.input.bias, all, w->gates.data());
  int64_t at = 0, last = 0;
  for (const int64_t rows : sequences.entries) {
    const Entry<T> entry = EntryAt(gru, at, rows, w);
    if (at > 0) std::copy_n(w->state.data() + last * n, rows * n, entry.before);
    for (int64_t row = 0; sequences.fresh && row < rows; ++row) {
      if (sequences.fresh[at + row]) std::fill_n(entry.before + row * n, n, T{0});
    }
    Multiply<T>(entry.before, weights.hidden.forward, params + gru.hidden.bias, rows, entry.sums);
    Gates(entry);
    last = at, at += rows;
  }
}

template <class T>
void GruBackward(const Gru& gru, const PackedGru<T>& weights, const T* x, const Sequences& sequences, GruWork<T>* w,
                 T* gradient) {
  const int64_t all = std::accumulate(sequences.entries.begin(), sequences.entries.end(), int64_t{0}), n = gru.size;
  int64_t at = all;
  for (size_t t = sequences.entries.size(); t-- > 0;) {
    const int64_t rows = sequences.entries[t];
    at -= rows;
    const Entry<T> entry = EntryAt(gru, at, rows, w);
    GatesBackward(entry);
    if (t == 0) break;
    MultiplyAdd(entry.sums, weights.hidden.backward, rows, entry.d);
    for (int64_t row = 0; sequences.fresh && row < rows; ++row) {
      if (sequences.fresh[at + row]) std::fill_n(entry.d + row * n, n, T{0});
    }
    Add(entry.d, rows * n, entry.d - sequences.entries[t - 1] * n);
  }
  LayerGradient(gru.hidden, w->before.data(), w->sums.data(), all, Precision::kFull, &w->packed, gradient);
  if (x) return LayerGradient(gru.input, x, w->gates.data(), all, Precision::kFull, &w->packed, gradient);
  AddRows(w->gates.data(), all, gru.input.out, gradient + gru.input.bias);
}

#define BP_NN_INSTANTIATE(T)                                                                                    \
  template struct GruWork<T>;                                                                                   \
  template void GruForward(const Gru&, const PackedGru<T>&, const T*, const T*, const Sequences&, GruWork<T>*); \
  template void GruBackward(const Gru&, const PackedGru<T>&, const T*, const Sequences&, GruWork<T>*, T*);
BP_NN_INSTANTIATE(float)
BP_NN_INSTANTIATE(double)
#undef BP_NN_INSTANTIATE

}  // namespace backplane::nn
