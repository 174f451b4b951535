// The transitions of a trial: the replay buffer, its sampler, and the batches that trainers read.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/replay.hpp"
#include "off_policy/batch.hpp"
#include "off_policy/options.hpp"
#include "replay/sampler.hpp"
#include "rl/env_shape.hpp"

namespace backplane::off_policy {

// The learner's output that is stored for an action: float32 [width].
struct StoredAction {
  const char* name;
  int64_t width;
  bool follows = false;  // batches have next_action, so the newest frame is not sampled yet
};

class Experience {
 public:
  // Throws bp::Unsupported for an env that loses the last observations of truncated episodes, bp::ConfigError for a buffer that
  // is too small for n_step.
  Experience(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const StoredAction& action);

  // Returns the number of frames.
  uint64_t Store(const bp::Delivery& part);
  // A batch for gradient step `number`. False if no transition is admissible.
  bool Draw(uint64_t number, Batch<float>* out);
  // The errors [n] of the last batch's values.
  void SetPriorities(const float* errors) { sampler_.SetPriorities(starts_, errors); }

  uint64_t frames() const { return replay_.count(); }
  void Clear() { replay_.Clear(), sampler_.Clear(); }
  void Save(const bp::Writer& writer) const { replay_.Save(writer), sampler_.Save(writer); }
  void Load(const bp::Reader& reader) { replay_.Load(reader), sampler_.Load(reader); }

 private:
  int64_t batch_size_, obs_, width_;
  bool obs_are_bytes_, weighted_, follows_;
  bp::Replay replay_;
  replay::Sampler sampler_;
  std::vector<replay::Start> starts_;
};

}  // namespace backplane::off_policy
