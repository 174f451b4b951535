// What the loop keeps of a trial, and how it goes on from there.
#include <cstdio>
#include <cstring>

#include "backplane/ext/snapshot.h"
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
  boundary_.meta = {{"trial_id", parts_.spec.trial_id},
                    {"iterations", iterations_},
                    {"env_steps", env_steps_},
                    {"window", window_.Save()},
                    {"policy_steps", collector_.policy_steps()},
                    {"seconds", SpentNow().seconds}};
  boundary_.blobs["learner"] = SaveLearner(*state, parts_.learner);
  if (feed_) boundary_.meta["data"] = feed_->Save();
  if (!unwritten_.is_null()) {
    // Stopped while it is evaluated: the iteration is learned already, so the attempt that goes on evaluates and writes it.
    TakeMachine();
    boundary_.meta["unwritten"] = unwritten_;
  }
  if (collector_.policy_steps() == 0) return;
  boundary_.blobs["rows"] = ToBytes(collector_.rows().state);
  if (!collector_.started()) return;  // candidates have been evaluated on its rows since
  const auto* snapshot = parts_.env.Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (snapshot == nullptr || parts_.env.on_device()) return;
  const uint64_t bytes = snapshot->row_bytes(parts_.env.handle());
  std::vector<std::byte>& env = boundary_.blobs["env"];
  env.resize(bytes * parts_.env.rows());
  for (uint64_t r = 0; r < parts_.env.rows(); ++r)
    if (bp_status s = snapshot->get(parts_.env.handle(), r, env.data() + r * bytes); s != BP_OK) parts_.env.Fail(s, "snapshot");
  boundary_.blobs["states"] = collector_.SaveStateEntries();
}

void TrialLoop::SaveCheckpoint() {
  if (feed_) TakeBoundaryState();
  if (boundary_.blobs.empty()) return;
  parts_.status.SetPhase("checkpoint");
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  WriteCheckpoint(parts_.spec.checkpoint_dir, boundary_);
  checkpoint_path_ = (parts_.spec.checkpoint_dir / kCheckpointFile).string();
}

// A trial that diverged keeps what it was before: the checkpoint on disk or, without one, the state of the last boundary. If
// that goes wrong too, the trial still ended because it diverged, in the phase it was in.
void TrialLoop::KeepStateBefore() {
  const std::string phase = parts_.status.data().phase;
  try {
    if (!ReadCheckpoint(parts_.spec.checkpoint_dir)) SaveCheckpoint();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "no checkpoint of the state before: %s\n", e.what());
  }
  parts_.status.SetPhase(phase);
}

bool TrialLoop::Resume() {
  const std::optional<Checkpoint> checkpoint = ReadCheckpoint(parts_.spec.checkpoint_dir);
  if (!checkpoint) return false;
  const bp_learner_state_1* state = StateOf(parts_.learner);
  if (state == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts_.learner.id(), "cannot be resumed: it does not offer " BP_LEARNER_STATE_1);
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  LoadLearner(*state, parts_.learner, checkpoint->blobs.at("learner"));
  iterations_ = checkpoint->meta.at("iterations");
  env_steps_ = checkpoint->meta.at("env_steps");
  seconds_before_ = checkpoint->meta.at("seconds");
  window_.Load(checkpoint->meta.at("window"));
  if (checkpoint->meta.contains("data")) {
    Feed().Load(checkpoint->meta.at("data"));
    // A group that was stopped comes again, and its line tells what it shrank.
    for (const Shrink& one : feed_->shrinks())
      if (one.iteration <= iterations_) ++shrinks_told_;
  }
  if (checkpoint->meta.contains("unwritten")) {
    unwritten_ = checkpoint->meta.at("unwritten");
    iteration_start_ns_ = iteration_end_ns_ = NowNs();  // it took none of this attempt's time
  }
  if (checkpoint->blobs.count("rows") == 0) return true;  // saved before the first rollout
  const std::vector<std::byte>& rows = checkpoint->blobs.at("rows");
  std::vector<RowState> states(rows.size() / sizeof(RowState));
  std::memcpy(states.data(), rows.data(), rows.size());
  const auto* snapshot = parts_.env.Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (snapshot == nullptr || checkpoint->blobs.count("env") == 0) {
    // The episodes under way are lost; the next ones get the seeds and noise that would have come next.
    collector_.StartAfresh(std::move(states), checkpoint->meta.at("policy_steps"));
    return true;
  }
  const std::vector<std::byte>& env = checkpoint->blobs.at("env");
  const uint64_t bytes = snapshot->row_bytes(parts_.env.handle());
  // Any horizon will do: the first rollout binds its own and carries the states over.
  collector_.Restore(std::move(states), checkpoint->meta.at("policy_steps"), checkpoint->blobs.at("states"), 1);
  for (uint64_t r = 0; r < parts_.env.rows(); ++r)
    if (bp_status s = snapshot->set(parts_.env.handle(), r, env.data() + r * bytes); s != BP_OK) parts_.env.Fail(s, "restore");
  return true;
}

// Only what was learned is taken over: rows, seeds and counters are those of a trial that begins.
void TrialLoop::StartFromOther() {
  const StartFrom& from = *parts_.spec.start_from;
  NeedState(parts_.learner);
  const std::optional<Checkpoint> checkpoint = ReadCheckpoint(from.checkpoint_dir);
  const std::string where = " in " + from.checkpoint_dir.string();
  if (!checkpoint)
    throw TrialFailure(BP_E_CONFIG, "", "the phase before (trial " + from.trial_id + ") has no checkpoint" + where);
  const nlohmann::json& found = checkpoint->meta.at("trial_id");
  if (found != from.trial_id)
    throw TrialFailure(BP_E_CONFIG, "",
                       "wanted the checkpoint of trial " + from.trial_id + where + ", found that of " + found.dump());
  const PhaseSpan span(clocks_[0], Phase::kCheckpoint);
  StartLearner(parts_.learner, checkpoint->blobs.at("learner"), from.trial_id);
}

}  // namespace backplane
