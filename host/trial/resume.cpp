#include "trial/resume.hpp"

#include <algorithm>

#include "trial/checkpoint.hpp"
#include "trial/plugin_state.hpp"
#include "trial/start_policy.hpp"

namespace backplane {
namespace {

// A checkpoint of a learner without files has no such part. Must come before the learner's `load`.
void RestoreFiles(const Checkpoint& checkpoint, const LoopParts& parts) {
  LearnerFiles& files = parts.learner.files();
  const auto part = checkpoint.parts.find(kFilesPart);
  if (part == checkpoint.parts.end()) return files.StartEmpty();
  files.Restore(part->second);
  const LearnerFiles::Mark newest = LearnerFiles::MarkOf(part->second);
  LearnerFiles::Mark older = newest;
  if (const auto before = parts.spec.experiment.checkpoint.keep > 1 ? parts.checkpoints.BeforeNewest() : std::nullopt) {
    const auto its = before->parts.find(kFilesPart);
    older = its == before->parts.end() ? LearnerFiles::Mark() : LearnerFiles::MarkOf(its->second);
  }
  files.NoteKept(older, newest);
}

void GoOnFrom(const Checkpoint& checkpoint, const LoopParts& parts, LoopState* state, CollectingSet* collecting,
              WarningList* warnings) {
  const CheckpointHeader& header = checkpoint.header;
  CheckUnwritten(header);
  const std::vector<const bp_channel*>& channels = parts.env.channels();
  const auto infos = std::count_if(channels.begin(), channels.end(), [](const bp_channel* c) { return IsEpisodeInfo(*c); });
  state->window.Load(header.window, static_cast<size_t>(infos));
  RestoreFiles(checkpoint, parts);
  LoadLearner(*StateOf(parts.learner), parts.learner, PartOf(checkpoint, kLearnerPart));
  state->lines.GoOnFrom(header.metrics_parts.value_or(std::vector<MetricsPart>()), header.unwritten);
  state->clock.GoOnFrom(header.seconds);
  TrialCount& count = state->count;
  count.iterations = header.iterations;
  count.env_steps = header.env_steps;
  count.warm_up = header.warm_up;
  if (count.iterations > 0 && count.warms_up()) count.warm_up = WarmUp{};  // an earlier version has counted its first one
  if (header.unwritten) state->iteration.start_ns = state->iteration.end_ns = NowNs();  // it took none of this attempt's time
  collecting->ForEach([&](Collecting& one) { one.Load(checkpoint); });
  state->goal.GoOnFrom({parts.spec.attempt_dir.parent_path()}, state->lines.SoFar());
  // A large state repeats the iterations since the checkpoint, and finds the same best policy.
  const bool comes_again =
      parts.learner.large() && parts.checkpoints.best() && parts.checkpoints.best()->iteration > header.iterations;
  const std::string lost =
      state->best.GoOnFrom(comes_again ? header.best : parts.checkpoints.best(), header.best, header.iterations);
  if (!lost.empty()) warnings->Add(lost);
}

}  // namespace

bool Resume(const LoopParts& parts, LoopState* state, CollectingSet* collecting, WarningList* warnings) {
  const PhaseSpan span(parts.clock(), Phase::kCheckpoint);
  const std::optional<Checkpoint> checkpoint = parts.checkpoints.Newest();
  if (!checkpoint) return false;
  if (StateOf(parts.learner) == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts.learner.id(),
                       "cannot be resumed, because it does not offer " BP_LEARNER_STATE_1);
  try {
    GoOnFrom(*checkpoint, parts, state, collecting, warnings);
  } catch (const TrialFailure& failure) {
    // The checkpoint's content is invalid. Other failures have other causes and would recur in the next attempt.
    if (failure.status() != BP_E_INVALID_ARG && failure.status() != BP_E_IO) throw;
    throw CheckpointRefused(failure.what());
  } catch (const CheckpointError& e) {
    throw CheckpointRefused(e.what());
  }
  return true;
}

// A stage accepts only the last state of the stage before: an earlier one would silently change the results.
void StartLearnerFrom(const StartFrom& from, LearnerInstance& learner, WarningList* warnings) {
  if (from.is_kept()) {
    for (const std::string& warning : StartFromKept(from, learner)) warnings->Add(warning);
    return;
  }
  NeedState(learner);
  const auto refuse = [&](const std::string& why) {
    throw TrialFailure(BP_E_CONFIG, "",
                       "the stage before (trial " + from.trial_id + ") " + why +
                           "; this stage starts only from its last state; remove the result.json of its last attempt in " +
                           from.checkpoint_dir.parent_path().string() + ", and `backplane run` trains it again");
  };
  const std::filesystem::path file = CheckpointFile(from.checkpoint_dir, 0);
  if (!std::filesystem::exists(file)) refuse("has no checkpoint in " + from.checkpoint_dir.string());
  try {
    const Checkpoint checkpoint = ReadCheckpoint(file, from.trial_id);
    if (!checkpoint.header.at_end && !from.may_be_broken_off) refuse("had not ended when it wrote " + file.string());
    StartLearner(learner, PartOf(checkpoint, kLearnerPart), from.trial_id);
  } catch (const CheckpointError& e) {
    refuse(std::string("has no complete checkpoint: ") + e.what());
  }
}

void StartFromOther(const LoopParts& parts, WarningList* warnings) {
  const PhaseSpan span(parts.clock(), Phase::kCheckpoint);
  StartLearnerFrom(*parts.spec.start_from, parts.learner, warnings);
}

}  // namespace backplane
