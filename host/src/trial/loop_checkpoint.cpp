// What the loop keeps of a trial, and how it goes on from there.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "rollout/row_snapshots.hpp"
#include "trial/checkpoint_content.hpp"
#include "trial/learner_state.hpp"
#include "trial/loop.hpp"

namespace backplane {
namespace {

template <class T>
std::vector<std::byte> ToBytes(const std::vector<T>& items) {
  std::vector<std::byte> out(items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(out.data(), items.data(), out.size());
  return out;
}

}  // namespace

void TrialLoop::TakeBoundaryState() {
  const bp_learner_state_1* state = StateOf(parts_.learner);
  if (state == nullptr) return;
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  boundary_ = {};
  boundary_.header.trial_id = parts_.spec.trial_id;
  boundary_.header.iterations = iterations_;
  boundary_.header.env_steps = env_steps_;
  boundary_.header.policy_steps = collector_.policy_steps();
  boundary_.header.seconds = TrialSeconds();
  boundary_.header.warm_up = warm_up_;
  boundary_.header.window = window_.Save();
  boundary_.header.metrics_parts = MetricsSoFar().metrics_parts;
  boundary_.parts["learner"] = SaveLearner(*state, parts_.learner);
  if (feed_) boundary_.header.data = feed_->Save();
  if (!unwritten_.is_null()) {
    // Stopped while it is evaluated: the iteration is learned already, so the attempt that goes on evaluates and writes it.
    TakeMachine();
    boundary_.header.unwritten = unwritten_;
  }
  if (collector_.policy_steps() == 0) return;
  boundary_.parts["rows"] = ToBytes(collector_.rows().state);
  if (!collector_.started()) return;  // candidates have been evaluated on its rows since
  if (!HasSnapshots(parts_.env)) return;
  boundary_.parts["env"] = SaveRows(parts_.env);
  boundary_.parts["states"] = collector_.SaveStateEntries();
}

void TrialLoop::SaveCheckpoint() {
  if (feed_ && !begun_) TakeBoundaryState();
  WriteBoundaryState();
}

void TrialLoop::SaveAtEnd() {
  if (!begun_) TakeBoundaryState();
  boundary_.header.at_end = true;
  WriteBoundaryState();
}

void TrialLoop::WriteBoundaryState() {
  if (boundary_.parts.empty()) return;
  parts_.status.SetPhase("checkpoint");
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  metrics_file_.Sync();  // whoever goes on from here repeats none of the lines before
  parts_.checkpoints.Save(boundary_);
  checkpoint_path_ = parts_.checkpoints.file().string();
}

// A trial that diverged keeps what it was before: the checkpoint on disk or, without one, the state of the last boundary. If
// that goes wrong too, the trial still ended because it diverged, in the phase it was in.
void TrialLoop::KeepStateBefore() {
  const std::string phase = parts_.status.data().phase;
  try {
    if (!parts_.checkpoints.Newest()) SaveCheckpoint();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "no checkpoint of the state before: %s\n", e.what());
  }
  parts_.status.SetPhase(phase);
}

bool TrialLoop::Resume() {
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  const std::optional<Checkpoint> checkpoint = parts_.checkpoints.Newest();
  if (!checkpoint) return false;
  if (StateOf(parts_.learner) == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts_.learner.id(), "cannot be resumed: it does not offer " BP_LEARNER_STATE_1);
  try {
    GoOnFrom(*checkpoint);
  } catch (const TrialFailure& failure) {
    // What it holds is wrong. Any other failure is none of the checkpoint: it is the next attempt's as well.
    if (failure.status() != BP_E_INVALID_ARG && failure.status() != BP_E_IO) throw;
    throw CheckpointRefused(failure.what());
  } catch (const CheckpointError& e) {
    throw CheckpointRefused(e.what());
  }
  return true;
}

void TrialLoop::GoOnFrom(const Checkpoint& checkpoint) {
  const CheckpointHeader& header = checkpoint.header;
  CheckUnwritten(header);
  const std::vector<const bp_channel*>& channels = parts_.env.channels();
  const auto infos = std::count_if(channels.begin(), channels.end(), [](const bp_channel* c) { return IsEpisodeInfo(*c); });
  window_.Load(header.window, static_cast<size_t>(infos));
  LoadLearner(*StateOf(parts_.learner), parts_.learner, PartOf(checkpoint, "learner"));
  metrics_before_ = header.metrics_parts.value_or(std::vector<MetricsPart>());
  iterations_ = header.iterations;
  env_steps_ = header.env_steps;
  seconds_before_ = header.seconds;
  warm_up_ = header.warm_up;
  if (iterations_ > 0 && WarmsUp()) warm_up_ = WarmUp{};  // an earlier version's: its first one counted
  if (header.data) {
    Feed().Load(*header.data);
    // A group that was stopped comes again, and its line tells what it shrank.
    for (const Shrink& one : feed_->shrinks())
      if (one.iteration < OpenIteration()) ++shrinks_told_;
  }
  if (header.unwritten) {
    unwritten_ = *header.unwritten;
    iteration_start_ns_ = iteration_end_ns_ = NowNs();  // it took none of this attempt's time
  }
  if (checkpoint.parts.contains("rows")) RestoreRows(checkpoint);  // else it was saved before the first rollout
}

void TrialLoop::RestoreRows(const Checkpoint& checkpoint) {
  std::vector<RowState> rows = RowStatesOf(checkpoint, parts_.env.rows());
  const uint64_t policy_steps = checkpoint.header.policy_steps;
  if (!HasSnapshots(parts_.env) || !checkpoint.parts.contains("env")) {
    // The episodes under way are lost; the next ones get the seeds and noise that would have come next.
    collector_.StartAfresh(std::move(rows), policy_steps);
    return;
  }
  // Any horizon will do: the first rollout binds its own and carries the states over.
  collector_.Restore(std::move(rows), policy_steps, PartOf(checkpoint, "states"), 1);
  LoadRows(parts_.env, PartOf(checkpoint, "env"));
}

// Only what was learned is taken over: rows, seeds and counters are those of a trial that begins. Nothing but the other's last
// state will do: an earlier one would give other numbers, and nobody would know.
void TrialLoop::StartFromOther() {
  const StartFrom& from = *parts_.spec.start_from;
  NeedState(parts_.learner);
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  const auto refuse = [&](const std::string& why) {
    throw TrialFailure(
        BP_E_CONFIG, "",
        "the phase before (trial " + from.trial_id + ") " + why +
            "; this one begins with its last state and no other: remove the result.json of its last attempt in " +
            from.checkpoint_dir.parent_path().string() + ", and `backplane run` trains it again");
  };
  const std::filesystem::path file = CheckpointFile(from.checkpoint_dir, 0);
  if (!std::filesystem::exists(file)) refuse("has no checkpoint in " + from.checkpoint_dir.string());
  try {
    const Checkpoint checkpoint = ReadCheckpoint(file, from.trial_id);
    if (!checkpoint.header.at_end) refuse("had not ended when it wrote " + file.string());
    StartLearner(parts_.learner, PartOf(checkpoint, "learner"), from.trial_id);
  } catch (const CheckpointError& e) {
    refuse(std::string("left no whole checkpoint: ") + e.what());
  }
}

}  // namespace backplane
