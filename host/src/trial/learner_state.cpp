#include "trial/learner_state.hpp"

#include <cstring>

namespace backplane {
namespace {

bp_status AppendBytes(const bp_writer* writer, const void* data, uint64_t n) {
  auto* out = static_cast<std::vector<std::byte>*>(writer->impl);
  const auto* from = static_cast<const std::byte*>(data);
  out->insert(out->end(), from, from + n);
  return BP_OK;
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
  if (bp_status s = state.save(learner.handle(), &writer); s != BP_OK) learner.Fail(s, "save");
  return bytes;
}

void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved) {
  ReadPlace place{&saved};
  const bp_reader reader{sizeof(bp_reader), 0, &place, TakeBytes};
  if (bp_status s = state.load(learner.handle(), &reader); s != BP_OK) learner.Fail(s, "load");
}

const bp_learner_state_1& NeedState(const LearnerInstance& learner) {
  const bp_learner_state_1* state = StateOf(learner);
  if (state != nullptr) return *state;
  throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                     "cannot go on from another phase: it does not offer " BP_LEARNER_STATE_1 ", so nothing of it is kept");
}

void StartLearner(LearnerInstance& learner, const std::vector<std::byte>& saved, const std::string& other_trial) {
  const bp_learner_state_1& state = NeedState(learner);
  try {
    LoadLearner(state, learner, saved);
  } catch (const TrialFailure& failure) {
    // It is not the plugin that is wrong: two phases do not fit together.
    const bool misfit = failure.status() == BP_E_IO || failure.status() == BP_E_INVALID_ARG;
    throw TrialFailure(misfit ? BP_E_CONFIG : failure.status(), "",
                       "the state of the phase before (trial " + other_trial + ") does not fit this one: " + failure.what());
  }
}

}  // namespace backplane
