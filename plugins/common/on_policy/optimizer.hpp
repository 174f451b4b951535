// Adam with clipped gradients over one flat buffer of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parallel.hpp"

namespace backplane::on_policy {

struct StepOptions {
  double lr;
  double grad_clip;   // largest norm of the gradient; 0: no limit
  double kl_stop;     // above this estimate no step is taken; 0: no limit
  int64_t split = 0;  // above 0 the norms of [0, split) and [split, size) are limited apart
};

template <class T>
class Optimizer {
 public:
  // `hint`: what may help where numbers stop being finite; ends the sentence.
  Optimizer(int64_t size, std::string hint) : hint_(std::move(hint)), params_(size), gradient_(size), m_(size), v_(size) {}

  // One step of Adam along the gradient, of which `stats` tell; fills in grad_norm, over all before the limit, and applied.
  // Throws bp::Error (BP_E_NUMERIC) where the loss or the norm is not finite. The same bits for any `parallel`.
  void Step(const StepOptions& options, const Parallel& parallel, StepStats* stats);
  // Throws bp::Error (BP_E_NUMERIC) for a state that no step can mend: after the last step of an update no loss would show it.
  void RequireFiniteState() const;

  int64_t size() const { return static_cast<int64_t>(params_.size()); }
  // [size] each, valid until the end: parameters, and the last gradient after its clip.
  T* params() { return params_.data(); }
  const T* params() const { return params_.data(); }
  T* gradient() { return gradient_.data(); }
  const T* gradient() const { return gradient_.data(); }

  // Adam's state, as "adam.m", "adam.v" and "adam.steps".
  void Tell(bp::NamedTensors* out) const;
  // Parameters and Adam's state. Load throws bp::Error for what can not have been saved.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  struct Clip {
    int64_t begin, end;
    double squares, factor;  // of the gradient; a factor from 1 on changes nothing
  };
  Clip ClipOf(int64_t begin, int64_t end, double max_norm, const Parallel& parallel) const;

  std::string hint_;
  std::vector<T> params_, gradient_, m_, v_;
  int64_t steps_ = 0;
};

}  // namespace backplane::on_policy
