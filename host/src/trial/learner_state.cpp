#include "trial/learner_state.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

namespace backplane {
namespace {

// No exception may enter a plugin: what cannot be kept is a status there.
bp_status AppendBytes(const bp_writer* writer, const void* data, uint64_t n) try {
  auto* out = static_cast<std::vector<std::byte>*>(writer->impl);
  if (n > out->max_size() - out->size()) return BP_E_INVALID_ARG;
  const auto* from = static_cast<const std::byte*>(data);
  out->insert(out->end(), from, from + n);
  return BP_OK;
} catch (const std::bad_alloc&) {
  return BP_E_OOM_HOST;
}

struct ReadPlace {
  const std::vector<std::byte>* bytes;
  uint64_t at = 0;
};

bp_status TakeBytes(const bp_reader* reader, void* out, uint64_t n) {
  auto* place = static_cast<ReadPlace*>(reader->impl);
  if (n > place->bytes->size() - place->at) return BP_E_IO;
  std::memcpy(out, place->bytes->data() + place->at, n);
  place->at += n;
  return BP_OK;
}

}  // namespace

const bp_learner_state_1* StateOf(const LearnerInstance& learner) {
  return learner.Extension<bp_learner_state_1>(BP_LEARNER_STATE_1);
}

std::vector<std::byte> SaveLearner(const bp_learner_state_1& state, LearnerInstance& learner) {
  std::vector<std::byte> bytes;
  const bp_writer writer{sizeof(bp_writer), 0, &bytes, AppendBytes};
  learner.Call("save", [&](bp_learner* handle) { return state.save(handle, &writer); });
  if (bytes.empty() && learner.spec().n_params > 0)
    throw TrialFailure(BP_E_INTERNAL, learner.id(),
                       fmt::format("save: wanted the state of its {} parameters, found 0 bytes", learner.spec().n_params));
  return bytes;
}

void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved) {
  ReadPlace place{&saved};
  const bp_reader reader{sizeof(bp_reader), 0, &place, TakeBytes};
  learner.Call("load", [&](bp_learner* handle) { return state.load(handle, &reader); });
  if (const size_t left = saved.size() - place.at; left > 0)
    throw TrialFailure(BP_E_IO, learner.id(),
                       "load: " + std::to_string(left) + " bytes of the saved state are left over: it is another's");
}

const bp_learner_state_1& NeedState(const LearnerInstance& learner) {
  const bp_learner_state_1* state = StateOf(learner);
  if (state != nullptr) return *state;
  throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                     "cannot go on from another stage: it does not offer " BP_LEARNER_STATE_1 ", so nothing of it is kept");
}

void StartLearner(LearnerInstance& learner, const std::vector<std::byte>& saved, const std::string& other_trial) {
  const bp_learner_state_1& state = NeedState(learner);
  try {
    LoadLearner(state, learner, saved);
  } catch (const TrialFailure& failure) {
    // It is not the plugin that is wrong: two phases do not fit together.
    const bool misfit = failure.status() == BP_E_IO || failure.status() == BP_E_INVALID_ARG;
    throw TrialFailure(misfit ? BP_E_CONFIG : failure.status(), "",
                       "the state of the stage before (trial " + other_trial + ") does not fit this one: " + failure.what());
  }
}

}  // namespace backplane
