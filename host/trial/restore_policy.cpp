#include "trial/restore_policy.hpp"

#include "contract/checkpoint_files.hpp"
#include "trial/named_checkpoint.hpp"
#include "trial/plugin_state.hpp"
#include "trial/resume.hpp"

namespace backplane {

std::optional<uint64_t> RestorePolicy(const TrialSpec& spec, const std::filesystem::path& dir, const std::string& name,
                                      LearnerInstance& learner, WarningList* warnings) {
  const bp_learner_state_1* state = StateOf(learner);
  if (state == nullptr && learner.spec().n_params == 0) return std::nullopt;
  if (name == kStartCheckpoint) {
    if (!spec.start_from) return 0;
    StartFrom from = *spec.start_from;
    from.MoveTo({dir.parent_path().parent_path().parent_path()});  // OUT/trials/ID/checkpoint; OUT may have been moved
    StartLearnerFrom(from, learner, warnings);
    return 0;
  }
  if (state == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(), "cannot save its state, because it does not offer " BP_LEARNER_STATE_1);
  if (name == kLastCheckpoint && !HasCheckpoint(dir))
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                       "has no checkpoint in " + dir.string() +
                           "; a trial writes one at its end, and earlier with checkpoint.every_iterations");
  const Checkpoint checkpoint = ReadNamedCheckpoint(dir, spec.trial_id, name);
  if (const auto policy = checkpoint.parts.find(kPolicyPart); policy != checkpoint.parts.end())
    LoadPolicy(learner, policy->second);
  else
    LoadLearner(*state, learner, PartOf(checkpoint, kLearnerPart));
  return checkpoint.header.iterations;
}

}  // namespace backplane
