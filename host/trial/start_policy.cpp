#include "trial/start_policy.hpp"

#include <fmt/format.h>

#include "backplane/ext/policy.h"
#include "base/error_words.hpp"
#include "base/sha256.hpp"
#include "contract/start_source.hpp"
#include "trial/plugin_state.hpp"
#include "trial/policy_arrays.hpp"

namespace backplane {
namespace {

[[noreturn]] void FailStart(const StartFrom& from, const std::string& why) {
  throw TrialFailure(BP_E_CONFIG, "", fmt::format("{}: {}: {}", kStartKey, from.source, why));
}

void NeedPolicy(const StartFrom& from, const LearnerInstance& learner, bool has_state) {
  if (OffersPolicy(learner)) return;
  FailStart(from, fmt::format("expected a learner that can load a policy without the rest of its state ({}), got {}{}",
                              BP_LEARNER_POLICY_1, learner.id(),
                              !has_state ? "" : "\nhint: learner: {start_optimizer: true} loads its whole state"));
}

// The part that was planned: the learner's state, or only its policy.
struct StartPart {
  bool is_policy;
  std::vector<std::byte> bytes;
};

StartPart PartIn(const StartFrom& from, const std::filesystem::path& file) try {
  const Checkpoint checkpoint = ReadCheckpoint(file, from.trial_id);
  const bool is_policy = checkpoint.parts.contains(kPolicyPart);
  StartPart part{is_policy, PartOf(checkpoint, is_policy ? kPolicyPart : kLearnerPart)};
  if (Sha256(AsText(part.bytes)) != from.sha256)
    throw CheckpointError(file.string() + ": it is not the state that was planned");
  return part;
} catch (const CheckpointError& e) {
  FailStart(from, e.what());
}

void StartFromTrial(const StartFrom& from, const std::filesystem::path& file, LearnerInstance& learner) {
  const bp_learner_state_1* state = StateOf(learner);
  if (state == nullptr)
    FailStart(from, "expected a learner that saves its state (" BP_LEARNER_STATE_1 "), got " + learner.id());
  const auto [is_policy, source] = PartIn(from, file);
  if (is_policy && from.optimizer)
    FailStart(from,
              "expected a whole state, because of start_optimizer, got the policy of a best checkpoint\n"
              "hint: start from @last, or leave out start_optimizer");
  if (!from.optimizer) NeedPolicy(from, learner, /*has_state=*/!is_policy);
  if (is_policy) return StartPolicy(learner, source);
  const std::vector<std::byte> own = from.optimizer ? std::vector<std::byte>() : SaveLearner(*state, learner);
  LoadLearner(*state, learner, source);
  const std::optional<std::vector<std::byte>> policy = SavePolicy(learner);
  if (!from.optimizer) LoadLearner(*state, learner, own);  // its counters, and an optimiser that has done nothing
  if (policy) StartPolicy(learner, *policy);
}

std::vector<std::string> StartFromArrays(const StartFrom& from, const std::filesystem::path& file, LearnerInstance& learner) {
  if (from.optimizer) FailStart(from, "expected a trial with start_optimizer, got a file of weights");
  NeedPolicy(from, learner, /*has_state=*/false);
  std::vector<std::byte> policy = *SavePolicy(learner);
  FilledPolicy filled;
  try {
    if (Sha256OfFile(file) != from.sha256) throw std::runtime_error("it is not the file that was planned");
    filled = FillPolicy(PolicyForm(learner), ReadArrayFile(file), &policy);
  } catch (const TrialFailure&) {
    throw;
  } catch (const std::runtime_error& e) {
    FailStart(from, WordsOf(e));
  }
  StartPolicy(learner, policy);
  if (*SavePolicy(learner) != policy)
    throw TrialFailure(BP_E_INTERNAL, learner.id(), "start (policy): expected the policy that was loaded, got a different one");
  if (!filled.lacks_critic) return {};
  return {fmt::format("{}: {} has no critic, so the critic starts untrained", kStartKey, from.source)};
}

}  // namespace

std::vector<std::string> StartFromKept(const StartFrom& from, LearnerInstance& learner) try {
  const std::filesystem::path file = from.checkpoint_dir / kStartFile;
  if (from.trial_id.empty()) return StartFromArrays(from, file, learner);
  StartFromTrial(from, file, learner);
  return {};
} catch (const TrialFailure& failure) {
  // No plugin is at fault: the policy and the learner's options do not fit together.
  if (failure.status() != BP_E_IO && failure.status() != BP_E_INVALID_ARG) throw;
  FailStart(from, std::string("does not fit this learner: ") + failure.what());
}

}  // namespace backplane
