// Collects rollouts. Every runner thread takes chunks of rows and, for each step, lets the learner act and the env step, counts
// episodes and resets ended rows. A step copies, allocates and locks nothing. Results depend only on rows and chunks, never on
// the number of threads.
//
// A learner may take a rollout in parts (rollout_part.hpp). Each is collected like a short rollout that continues the last one,
// in buffers that have room for one part.
//
// If only the learner is not thread-safe, `act` gets all rows in one call. Then all runners step the env, chunk by chunk.
//
// For an env that resets itself, all rows form one chunk, no work happens between two steps, and the episodes of the whole
// rollout are counted after the last one. This lets a device run ahead.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rollout/action_check.hpp"
#include "rollout/chunk_queue.hpp"
#include "rollout/chunk_recorder.hpp"
#include "rollout/chunk_share.hpp"
#include "rollout/delivery.hpp"
#include "rollout/instance.hpp"
#include "rollout/joint_run.hpp"
#include "rollout/non_finite.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/rollout_buffers.hpp"
#include "rollout/rollout_part.hpp"

namespace backplane {

struct RolloutCollectorConfig {
  uint64_t chunk_rows = 16;
  uint64_t seed = 0;
  uint64_t moment_rows = 0;        // rows whose moments are summed together: chunk_rows is a multiple of it; 0: chunk_rows
  SharedMemory* shared = nullptr;  // holds the buffers for several processes; NULL: none
  bool acts_whole = false;         // `act` gets all rows in one call; only the env is called by several threads
};

class RolloutCollector {
 public:
  // Every runner calls `beat`, a sign of life, about every 0.1 ms or after every longer step.
  RolloutCollector(EnvInstance& env, LearnerInstance& learner, Runners runners, const RolloutCollectorConfig& config,
                   const std::atomic<bool>& cancelled, std::function<void()> beat);

  // Allocates and binds the buffers for `room` steps; Collect does it when the room changes.
  void Prepare(uint64_t room);
  // Runs the part's steps of every row. False if cancelled; the rollout is then void. Throws TrialFailure. clocks[i] belongs to
  // runner i; clocks[0] is the caller's and already runs.
  bool Collect(const RolloutPart& part, std::vector<PhaseClock>& clocks);

  // The use of the runners in the last Collect, unless only the caller played a part (RunAlone), which is not measured.
  const PoolUse& use() const { return run_.use(); }
  bool measured_use() const { return !alone_; }

  // The last rollout, or part, for the learner; valid until the next Collect.
  bp_delivery Delivery();
  // Call after the learner consumed the first delivery: checks that it has not written outside of it. Throws TrialFailure.
  void CheckDelivered();
  // The first non-finite observation of the last rollout, even while the learner still works on it.
  std::optional<NonFinite> NonFiniteObservation() const { return FirstNonFinite(buffers_, queue_.chunks()); }
  const std::vector<Episode>& episodes() const { return delivery_.episodes(); }       // ended in the last Collect, by (t, row)
  const std::vector<std::string>& info_names() const { return buffers_.info_names; }  // "ep/..." channels
  uint64_t env_steps() const { return policy_steps_ * env_.rows(); }
  uint64_t policy_steps() const { return policy_steps_; }
  Rows& rows() { return recorder_.rows(); }
  ChannelBuffer* Buffer(const std::string& name) { return buffers_.Find(name); }  // NULL: no such channel

  // A rollout whose chunks several processes play (chunk_share.hpp). Begin replaces the start of Collect. The owner of the
  // rollout then plays chunks itself or sets the results of others, and ends it when it has all of them. For envs with
  // snapshots that do not reset themselves. [control]
  uint64_t chunks() const { return queue_.chunks().size(); }
  void BeginShared(const RolloutPart& part, PhaseClock& clock);
  ChunkStart StartOf(uint64_t chunk);                                                     // of a chunk that has not been played
  bool PlayShared(const std::vector<uint64_t>& chunks, std::vector<PhaseClock>& clocks);  // false if cancelled
  bool SetPlayed(const ChunkPlayed& played);                                              // false: it does not fit
  void EndShared(PhaseClock& clock);
  // The other side plays for an owner: sets the step count, begins with the owner's block of shared memory, and sets the state
  // of those chunks that it has not played last. Its first rollout stays in its own memory, because bounds checks compare rows
  // that other processes would write.
  void SetPolicySteps(uint64_t policy_steps) { policy_steps_ = policy_steps; }
  void BeginGiven(const RolloutPart& part, const SharedMemory::Block& owners, PhaseClock& clock);
  bool SetStart(const ChunkStart& start);  // false: it does not fit
  bool PlayGiven(const std::vector<uint64_t>& chunks, std::vector<PhaseClock>& clocks);
  ChunkPlayed PlayedOf(uint64_t chunk);  // without its channels if the owner sees them in shared memory
  // True if another process played some rows last.
  bool holds_elsewhere() const {
    return std::any_of(elsewhere_.begin(), elsewhere_.end(), [](const auto& rows) { return rows.has_value(); });
  }
  // Snapshots of all rows, wherever they were played.
  std::vector<std::byte> SaveEnvRows();

  // Releases the env's rows for another use. Episodes in progress are lost; the next Collect binds and resets.
  void ReleaseEnv();
  bool started() const { return started_; }  // episodes are in progress

  // Continues another collector's count with new episodes in every row.
  void StartAfresh(std::vector<RowState> rows, uint64_t policy_steps) {
    recorder_.rows().state = std::move(rows);
    policy_steps_ = policy_steps;
  }
  // For a resume: call after the env's rows were restored. `state_entries`: their saved current states.
  std::vector<std::byte> SaveStateEntries() { return started_ ? buffers_.SaveStates() : std::vector<std::byte>(); }
  void Restore(std::vector<RowState> rows, uint64_t policy_steps, const std::vector<std::byte>& state_entries,
               uint64_t horizon);

 private:
  void StartRollout(const RolloutPart& part, PhaseClock& clock);
  void Begin(const RolloutPart& part);
  bool RunAll(std::vector<PhaseClock>& clocks);
  // The caller plays all of a part, without the system calls of RunAll, which take longer than a step of a simple env.
  bool RunAlone(PhaseClock& clock);
  // The learner acts for all rows, then all runners step them, and so on.
  bool RunInTurns(std::vector<PhaseClock>& clocks);
  bool PlaysAlone() const { return (runners_.threads == 1 || queue_.chunks().size() == 1) && !runners_.pool.pins(); }
  void ResetRows(uint64_t begin, uint64_t end);
  bool Fits(const ChunkPlayed& played) const;
  void RunChunks(unsigned runner, PhaseClock& clock);
  void StepInFirstIteration(Chunk& chunk, PhaseClock& clock);
  template <bool kChecked>
  void StepChunk(Chunk& chunk, PhaseClock& clock);
  template <bool kChecked>
  void Act(uint64_t t, uint64_t begin, uint64_t end);
  template <bool kChecked>
  void StepEnv(Chunk& chunk, PhaseClock& clock);
  template <bool kChecked>
  void ResetEnded(const Chunk& chunk);
  void CheckFirstIteration();
  [[noreturn]] void RefuseAction(uint64_t t, uint64_t begin, uint64_t end) const;
  void AssignSeeds(uint64_t per_row);
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
  RolloutPart part_;    // the last one
  bool alone_ = false;  // RunAlone or RunInTurns played it
  bool started_ = false;
  // Per chunk: the snapshots of rows that another process played last; absent: the rows are in env_.
  std::vector<std::optional<std::vector<std::byte>>> elsewhere_;
  bool fresh_ = false;  // all rows of the shared rollout start new episodes
};

}  // namespace backplane
