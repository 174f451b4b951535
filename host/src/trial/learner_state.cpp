#include "trial/learner_state.hpp"

#include <fmt/format.h>

#include "trial/state_bytes.hpp"

namespace backplane {

const bp_learner_state_1* StateOf(const LearnerInstance& learner) {
  return learner.Extension<bp_learner_state_1>(BP_LEARNER_STATE_1);
}

std::vector<std::byte> SaveLearner(const bp_learner_state_1& state, LearnerInstance& learner) {
  std::vector<std::byte> bytes;
  const StateWriter writer(&bytes);
  learner.Call("save", [&](bp_learner* handle) { return state.save(handle, writer.get()); });
  if (bytes.empty() && learner.spec().n_params > 0)
    throw TrialFailure(BP_E_INTERNAL, learner.id(),
                       fmt::format("save: wanted the state of its {} parameters, found 0 bytes", learner.spec().n_params));
  return bytes;
}

void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved) {
  const StateReader reader(saved);
  learner.Call("load", [&](bp_learner* handle) { return state.load(handle, reader.get()); });
  reader.CheckAllIsRead(learner.id());
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
