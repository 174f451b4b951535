// Collects rollouts: every runner thread takes chunks of rows and, for each step, lets the learner act, the env step, counts
// episodes and resets rows that ended. Nothing is copied, allocated or locked per step, and results depend on rows and chunks
// only, never on the number of threads.
//
// For an env that resets itself all rows are one chunk, nothing happens between two of its steps, and episodes are counted for
// the whole rollout after the last one. On a device that is what lets it run ahead.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rollout/action_check.hpp"
#include "rollout/chunk_queue.hpp"
#include "rollout/chunk_recorder.hpp"
#include "rollout/delivery.hpp"
#include "rollout/instance.hpp"
#include "rollout/joint_run.hpp"
#include "rollout/non_finite.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/rollout_buffers.hpp"

namespace backplane {

struct RolloutCollectorConfig {
  uint64_t chunk_rows = 16;
  uint64_t seed = 0;
  uint64_t moment_rows = 0;  // whose observations are summed up together: chunk_rows is a multiple of it; 0: chunk_rows
};

class RolloutCollector {
 public:
  // `beat` is called from every runner, about every 0.1 ms or after every step that takes longer: a sign of life.
  RolloutCollector(EnvInstance& env, LearnerInstance& learner, Runners runners, const RolloutCollectorConfig& config,
                   const std::atomic<bool>& cancelled, std::function<void()> beat);

  // Makes and binds the buffers for rollouts of `horizon` steps; Collect does so itself when the horizon changes.
  void Prepare(uint64_t horizon);
  // Runs `horizon` steps of every row. False if cancelled on the way; the rollout is then void. Throws TrialFailure.
  // clocks[i] belongs to runner i; clocks[0] is the caller's and runs already.
  bool Collect(uint64_t horizon, std::vector<PhaseClock>& clocks);

  // How well the last Collect used its runners.
  const PoolUse& use() const { return run_.use(); }

  // The last rollout for the learner; valid until the next Collect.
  bp_delivery Delivery();
  // After the learner has worked on the first delivery: that it has not written around it. Throws TrialFailure.
  void CheckDelivered();
  // Of the last rollout, also while the learner still works on it: the first observation that was not finite.
  std::optional<NonFinite> NonFiniteObservation() const { return FirstNonFinite(buffers_, queue_.chunks()); }
  const std::vector<Episode>& episodes() const { return delivery_.episodes(); }       // ended in the last rollout, by (t, row)
  const std::vector<std::string>& info_names() const { return buffers_.info_names; }  // "ep/..." channels
  uint64_t env_steps() const { return policy_steps_ * env_.rows(); }
  uint64_t policy_steps() const { return policy_steps_; }
  Rows& rows() { return recorder_.rows(); }
  ChannelBuffer* Buffer(const std::string& name) { return buffers_.Find(name); }  // NULL: no such channel

  // The env's rows serve something else from now on: the episodes under way are lost, the next Collect binds and starts anew.
  void ReleaseEnv();
  bool started() const { return started_; }  // there are episodes under way

  // Goes on counting where another collector stopped, with new episodes in every row.
  void StartAfresh(std::vector<RowState> rows, uint64_t policy_steps) {
    recorder_.rows().state = std::move(rows);
    policy_steps_ = policy_steps;
  }
  // Where a trial goes on from: after the env's rows were restored, their current states come from `state_entries`, as saved.
  std::vector<std::byte> SaveStateEntries() { return started_ ? buffers_.SaveStates() : std::vector<std::byte>(); }
  void Restore(std::vector<RowState> rows, uint64_t policy_steps, const std::vector<std::byte>& state_entries,
               uint64_t horizon);

 private:
  void StartRollout(uint64_t horizon, PhaseClock& clock);
  void RunChunks(unsigned runner, PhaseClock& clock);
  void StepInFirstIteration(Chunk& chunk, PhaseClock& clock);
  template <bool kChecked>
  void StepChunk(Chunk& chunk, PhaseClock& clock);
  template <bool kChecked>
  void ResetEnded(const Chunk& chunk);
  void CheckFirstIteration();
  [[noreturn]] void RefuseAction(const Chunk& chunk) const;
  void AssignSeeds(uint64_t horizon);
  void RecordAllSteps(PhaseClock& clock);

  EnvInstance& env_;
  LearnerInstance& learner_;
  const Runners runners_;
  RolloutCollectorConfig config_;
  const std::atomic<bool>& cancelled_;
  std::function<void()> beat_;

  const bool wants_moments_;
  RolloutBuffers buffers_;
  ChunkQueue queue_;
  ChunkRecorder recorder_;
  RolloutDelivery delivery_;
  std::vector<uint64_t> next_seeds_;  // [rows, horizon] for an env that resets itself
  JointRun run_;
  ActionCheck actions_;
  BoundsCheckGate gate_;
  bool first_delivery_ = false;  // the learner has it, or is about to get it
  uint64_t policy_steps_ = 0;
  bool started_ = false;
};

}  // namespace backplane
