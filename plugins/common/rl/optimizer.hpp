// Adam with clipped gradients over one flat buffer of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

// Throws bp::Error (BP_E_NUMERIC): "the <what> is infinite; <hint>".
void NeedFinite(const std::string& what, double value, const std::string& hint);

template <class T>
class Optimizer {
 public:
  // `hint`: what may help where numbers stop being finite; ends the sentence.
  Optimizer(int64_t size, std::string hint) : hint_(std::move(hint)), params_(size), gradient_(size), m_(size), v_(size) {}

  // One step of Adam along the gradient, whose norm is first brought down to `max_norm` (0: no limit), with 0 < split < size
  // for [0, split) and [split, size) apart. Returns the norm over all before that. Throws bp::Error
  // (BP_E_NUMERIC) where it is not finite.
  double Step(double max_norm, int64_t split, double lr);
  // Throws bp::Error (BP_E_NUMERIC) for a state that no step can mend: after the last step of an update no loss would show it.
  void RequireFiniteState() const;

  int64_t size() const { return static_cast<int64_t>(params_.size()); }
  const std::string& hint() const { return hint_; }
  // [size] each, valid until the end: parameters, and the last gradient after its clip.
  T* params() { return params_.data(); }
  const T* params() const { return params_.data(); }
  T* gradient() { return gradient_.data(); }
  const T* gradient() const { return gradient_.data(); }

  // Parameters and Adam's state. Load throws bp::Error for what can not have been saved.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  double Clip(int64_t begin, int64_t end, double max_norm);

  std::string hint_;
  std::vector<T> params_, gradient_, m_, v_;
  int64_t steps_ = 0;
};

}  // namespace backplane::rl
