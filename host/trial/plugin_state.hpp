// The parts of a checkpoint that plugins save: the learner's by "bp.learner.state/1", the env's by snapshots of its rows or, if
// their states have no fixed size, by "bp.env.state/1".
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backplane/ext/state.h"
#include "rollout/failure.hpp"
#include "rollout/instance.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {

// The byte streams of ext/state.h, in memory. StateWriter grows `bytes`. Exceptions must not enter a plugin, so errors become a
// status there.
class StateWriter {
 public:
  explicit StateWriter(std::vector<std::byte>* bytes) : writer_{sizeof(bp_writer), 0, bytes, Append} {}
  const bp_writer* get() const { return &writer_; }

 private:
  static bp_status Append(const bp_writer* writer, const void* data, uint64_t n) try {
    auto* out = static_cast<std::vector<std::byte>*>(writer->impl);
    if (n > out->max_size() - out->size()) return BP_E_INVALID_ARG;
    const auto* from = static_cast<const std::byte*>(data);
    out->insert(out->end(), from, from + n);
    return BP_OK;
  } catch (const std::bad_alloc&) {
    return BP_E_OOM_HOST;
  }

  bp_writer writer_;
};

class StateReader {
 public:
  explicit StateReader(const std::vector<std::byte>& bytes) : bytes_(bytes), reader_{sizeof(bp_reader), 0, this, Take} {}
  StateReader(const StateReader&) = delete;
  const bp_reader* get() const { return &reader_; }
  // Throws TrialFailure (BP_E_IO) in the name of the plugin if it has left bytes unread.
  void CheckAllIsRead(const std::string& plugin) const {
    if (const size_t left = bytes_.size() - at_; left > 0)
      throw TrialFailure(
          BP_E_IO, plugin,
          "load: " + std::to_string(left) + " bytes of the saved state are left over; a different plugin saved it");
  }

 private:
  static bp_status Take(const bp_reader* reader, void* out, uint64_t n) {
    auto* self = static_cast<StateReader*>(reader->impl);
    if (n > self->bytes_.size() - self->at_) return BP_E_IO;
    std::memcpy(out, self->bytes_.data() + self->at_, n);
    self->at_ += n;
    return BP_OK;
  }

  const std::vector<std::byte>& bytes_;
  uint64_t at_ = 0;
  bp_reader reader_;
};

// NULL: the learner saves no state.
const bp_learner_state_1* StateOf(const LearnerInstance& learner);

// Both throw TrialFailure if the learner returns an error. [control]
std::vector<std::byte> SaveLearner(const bp_learner_state_1& state, LearnerInstance& learner);
void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved);

// Saves what `act` reads, by ext/policy.h; absent: the learner does not offer it. Load is for a learner that does. Both throw
// TrialFailure. [control]
bool OffersPolicy(const LearnerInstance& learner);
std::optional<std::vector<std::byte>> SavePolicy(LearnerInstance& learner);
void LoadPolicy(LearnerInstance& learner, const std::vector<std::byte>& saved);

// As LoadPolicy, for a new trial: seeds and counters stay the learner's own.
void StartPolicy(LearnerInstance& learner, const std::vector<std::byte>& saved);
// The form of its net (ext/policy.h), an object. Throws TrialFailure.
nlohmann::json PolicyForm(LearnerInstance& learner);

// The learner's table, for a trial that starts from another trial. Throws TrialFailure if it has none.
const bp_learner_state_1& NeedState(const LearnerInstance& learner);
// Loads the state that the other trial's learner saved. Throws TrialFailure, also if it does not fit. [control]
void StartLearner(LearnerInstance& learner, const std::vector<std::byte>& saved, const std::string& other_trial);

// False for an env on a device, whose rows cannot be saved.
bool KeepsEnvState(const EnvInstance& env);
// The plugin that prevents it: the env, or the outermost wrapper without snapshots.
std::string KeepsNoState(const EnvInstance& env);
// True if `checkpoint` contains this env's state.
bool HasEnvState(const Checkpoint& checkpoint, const EnvInstance& env);

// Both throw TrialFailure if the env returns an error. [control]
void SaveEnv(EnvInstance& env, Checkpoint* checkpoint);
// The same from snapshots of all rows.
void SaveEnv(std::vector<std::byte> rows, Checkpoint* checkpoint);
void LoadEnv(EnvInstance& env, const Checkpoint& checkpoint);

}  // namespace backplane
