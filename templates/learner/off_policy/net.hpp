// A multi-layer perceptron with ReLU between its layers, its gradient, and Adam. One sample at a time, which is slow but short.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "backplane/rng.h"

using Numbers = std::vector<float>;

class Net {
 public:
  // Outputs of all layers for one input, the input first.
  using Trace = std::vector<Numbers>;

  // Layers between these sizes; weights of a layer are [in, out], followed by its biases.
  Net(std::vector<size_t> sizes, uint64_t seed) : sizes_(std::move(sizes)) {
    bp_rng rng{seed, 0};
    for (size_t l = 0; l + 1 < sizes_.size(); ++l) {
      const double bound = 1 / std::sqrt(static_cast<double>(sizes_[l]));
      for (size_t i = 0; i < (sizes_[l] + 1) * sizes_[l + 1]; ++i)
        weights.push_back(static_cast<float>(bp_rng_range(&rng, -bound, bound)));
    }
    gradient.resize(weights.size()), m_.resize(weights.size()), v_.resize(weights.size());
  }

  const Numbers& Forward(const Numbers& x, Trace* trace) const {
    trace->resize(sizes_.size());
    (*trace)[0] = x;
    const float* w = weights.data();
    for (size_t l = 0; l + 1 < sizes_.size(); ++l) {
      const size_t in = sizes_[l], out = sizes_[l + 1];
      Numbers& y = (*trace)[l + 1];
      y.assign(w + in * out, w + (in + 1) * out);
      for (size_t i = 0; i < in; ++i)
        for (size_t j = 0; j < out; ++j) y[j] += (*trace)[l][i] * w[i * out + j];
      if (l + 2 < sizes_.size())
        for (float& value : y) value = std::max(value, 0.f);
      w += (in + 1) * out;
    }
    return trace->back();
  }

  // Adds the gradient for the derivative `d` at the output, if `learns`; returns the derivative at the input.
  Numbers Backward(const Trace& trace, Numbers d, bool learns = true) {
    size_t at = weights.size();
    for (size_t l = sizes_.size() - 1; l-- > 0;) {
      const size_t in = sizes_[l], out = sizes_[l + 1];
      at -= (in + 1) * out;
      Numbers before(in);
      for (size_t i = 0; i < in; ++i) {
        float sum = 0;
        for (size_t j = 0; j < out; ++j) sum += d[j] * weights[at + i * out + j];
        before[i] = l == 0 || trace[l][i] > 0 ? sum : 0;
        if (!learns) continue;
        for (size_t j = 0; j < out; ++j) gradient[at + i * out + j] += trace[l][i] * d[j];
      }
      for (size_t j = 0; j < out && learns; ++j) gradient[at + in * out + j] += d[j];
      d = std::move(before);
    }
    return d;
  }

  // A step of Adam along the gradient, which becomes 0.
  void Step(double lr) {
    ++steps_;
    const auto t = static_cast<double>(steps_);
    const double rate = lr * std::sqrt(1 - std::pow(.999, t)) / (1 - std::pow(.9, t));
    for (size_t i = 0; i < weights.size(); ++i) {
      m_[i] = .9f * m_[i] + .1f * gradient[i];
      v_[i] = .999f * v_[i] + .001f * gradient[i] * gradient[i];
      weights[i] -= static_cast<float>(rate) * m_[i] / (std::sqrt(v_[i]) + 1e-8f);
      gradient[i] = 0;
    }
  }

  void Follow(const Net& other, float share) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] += share * (other.weights[i] - weights[i]);
  }

  void Save(const bp::Writer& out) const {
    for (const Numbers* each : {&weights, &m_, &v_}) out.PutAll(each->data(), each->size());
    out.Put(steps_);
  }
  void Load(const bp::Reader& in) {
    for (Numbers* each : {&weights, &m_, &v_}) in.GetAll(each->data(), each->size(), "weights");
    steps_ = in.Get<uint64_t>();
  }

  Numbers weights, gradient;

 private:
  std::vector<size_t> sizes_;
  Numbers m_, v_;
  uint64_t steps_ = 0;
};
