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
  double grad_clip;                  // maximum norm of the gradient; 0: no limit
  double kl_stop;                    // an estimate above this skips the step; 0: no limit
  std::vector<int64_t> splits = {};  // ascending: limits the norms of [0, splits[0]), [splits[0], splits[1]), ... separately
  bool may_overflow = false;         // float16: a loss or a norm that is not finite skips the step and sets overflowed
  double eps = 1e-5;                 // of Adam
};

template <class T>
class Optimizer {
 public:
  // `hint`: advice that ends the error about numbers that are not finite.
  Optimizer(int64_t size, std::string hint) : hint_(std::move(hint)), params_(size), gradient_(size), m_(size), v_(size) {}

  // One step of Adam along the gradient with statistics `stats`; sets grad_norm (of all, before clipping) and applied. Throws
  // bp::Error (BP_E_NUMERIC) if the loss or the norm is not finite. The same bits for any `parallel`.
  void Step(const StepOptions& options, const Parallel& parallel, StepStats* stats);
  // Throws bp::Error (BP_E_NUMERIC) if the state is not finite. No loss would reveal that after the last step of an update.
  void RequireFiniteState() const;

  int64_t size() const { return static_cast<int64_t>(params_.size()); }
  // [size] each, valid for the optimizer's life: parameters, and the last gradient after clipping.
  T* params() { return params_.data(); }
  const T* params() const { return params_.data(); }
  T* gradient() { return gradient_.data(); }
  const T* gradient() const { return gradient_.data(); }

  // Adam's state, as "adam.m", "adam.v" and "adam.steps" after `prefix`.
  void Tell(bp::NamedTensors* out, const std::string& prefix = "") const;
  // Parameters and Adam's state. Load throws bp::Error for invalid states.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // Only the parameters.
  void SaveParams(const bp::Writer& writer) const { writer.PutAll(params_.data(), params_.size()); }
  void LoadParams(const bp::Reader& reader);

 private:
  struct Clip {
    int64_t begin, end;
    double squares, factor;  // of the gradient; a factor of at least 1 changes nothing
  };
  Clip ClipOf(int64_t begin, int64_t end, double max_norm, const Parallel& parallel) const;

  std::string hint_;
  std::vector<T> params_, gradient_, m_, v_;
  int64_t steps_ = 0;
};

}  // namespace backplane::on_policy
