#include "trial/checkpointing.hpp"

#include <utility>

#include "base/error_words.hpp"
#include "log/log.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {

void Checkpointing::BeginIteration(const bp_request& request) {
  keeps_before_ = !parts_.learner.large() && (request.kind != BP_REQ_DATA || ticks_after_data_);
  taken_ = {};
  parts_.learner.files().BeginIteration();
  if (keeps_before_) Take();
}

void Checkpointing::SaveBetween(bool due) {
  const LearnerFiles& files = parts_.learner.files();
  if (state_.best.unsaved() && parts_.learner.large()) SaveBest();
  if (due || state_.best.unsaved()) Save(/*only_best=*/!due);
  // The newest one may be nearly as old as the older one; then a second one is needed.
  for (int i = 0; i < 2 && files.NeedsCheckpoint(); ++i) Save();
}

void Checkpointing::Take() {
  const bp_learner_state_1* state = StateOf(parts_.learner);
  if (state == nullptr) return;
  const PhaseSpan span(parts_.clock(), Phase::kCheckpoint);
  taken_ = {HeaderNow(), {}};
  taken_.parts[kLearnerPart] = SaveLearner(*state, parts_.learner);
  if (const LearnerFiles& files = parts_.learner.files(); !files.empty()) {
    taken_.parts[kFilesPart] = files.Save();
    taken_files_ = files.Now();
  }
  if (state_.lines.unwritten()) {
    // Stopped during its evaluation, after the update: the next attempt evaluates the iteration and writes its line.
    state_.lines.TakeTimes();
    taken_.header.unwritten = state_.lines.unwritten();
  }
  collecting_.ForEach([this](Collecting& one) { one.Save(&taken_); });
}

CheckpointHeader Checkpointing::HeaderNow() const {
  CheckpointHeader header;
  header.trial_id = parts_.spec.trial_id;
  header.iterations = state_.count.iterations;
  header.env_steps = state_.count.env_steps;
  header.seconds = state_.clock.trial_s();
  header.warm_up = state_.count.warm_up;
  header.window = state_.window.Save();
  header.best = state_.best.best();
  static_cast<MetricsRecord&>(header) = state_.lines.SoFar();
  return header;
}

void Checkpointing::Save(bool only_best) {
  // A data set whose first group is not read yet keeps no state, but an evaluation before it may be the best.
  const bool not_taken =
      parts_.learner.large() || collecting_.data().started() || (state_.best.unsaved() && taken_.parts.empty());
  if (not_taken && !state_.iteration.begun) Take();
  Write(only_best);
}

void Checkpointing::SaveAtEnd() {
  if (!state_.iteration.begun) Take();
  taken_.header.at_end = true;
  Write();
}

// A dropped iteration has changed the learner, so its evaluation is not of the saved state.
void Checkpointing::SaveBestAtEnd() {
  if (state_.best.unsaved() && parts_.learner.large()) return SaveBest();
  if (!state_.best.unsaved() || taken_.parts.empty()) return;
  taken_.header.best = state_.best.best();
  if (!state_.iteration.begun) return Write();
  const PhaseSpan span(parts_.clock(), Phase::kCheckpoint);
  parts_.checkpoints.SaveBest({taken_.header, {{"learner", SaveLearner(*StateOf(parts_.learner), parts_.learner)}}});
  state_.best.NoteSaved();
}

void Checkpointing::SaveAsStopped() {
  if (!state_.iteration.begun && !taken_.header.at_end) {
    Checkpoint before = std::move(taken_);
    try {
      Take();
    } catch (const std::exception& error) {
      LogWarning("cannot save the state at the stop: {}", error.what());
      taken_ = std::move(before);
    }
  }
  Write();
}

void Checkpointing::Write(bool only_best) {
  if (taken_.parts.empty()) return;
  taken_.header.only_best = only_best;
  parts_.status.SetPhase("checkpoint");
  const PhaseSpan span(parts_.clock(), Phase::kCheckpoint);
  state_.SyncFiles();  // an attempt that resumes from here repeats no earlier line
  LearnerFiles& files = parts_.learner.files();
  files.Sync();
  const bool apart = parts_.learner.large();  // best.bin is a file of its own
  const bool moved = parts_.checkpoints.Save(taken_, state_.best.unsaved() && !apart);
  const bool one = parts_.spec.experiment.checkpoint.keep == 1 || !files.newest();
  if (!files.empty()) files.NoteKept(one ? taken_files_ : moved ? files.newest() : files.older(), taken_files_);
  if (apart) taken_.parts.clear();
  if (!apart) state_.best.NoteSaved();
  path_ = parts_.checkpoints.file().string();
}

// Saves only the policy, because no attempt resumes from it.
void Checkpointing::SaveBest() {
  const bp_learner_state_1* state = StateOf(parts_.learner);
  if (state == nullptr) return;
  const PhaseSpan span(parts_.clock(), Phase::kCheckpoint);
  Checkpoint best{HeaderNow(), {}};
  best.header.at_end = true;  // so that none does
  if (auto policy = SavePolicy(parts_.learner))
    best.parts[kPolicyPart] = std::move(*policy);
  else
    best.parts[kLearnerPart] = SaveLearner(*state, parts_.learner);
  parts_.checkpoints.SaveBest(best);
  state_.best.NoteSaved();
}

void Checkpointing::KeepStateBefore() {
  if (parts_.learner.large()) return;  // the checkpoint on disk is the only state before
  const std::string phase = parts_.status.data().phase;
  try {
    if (!parts_.checkpoints.Newest()) Save();
  } catch (const std::exception& e) {
    LogWarning("cannot save the state before the iteration: {}", WordsOf(e));
  }
  parts_.status.SetPhase(phase);
}

}  // namespace backplane
