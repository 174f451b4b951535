// Plays whole episodes on a separate env instance, bound to one slot, with its own seeds. Serves evaluation and its two
// baselines: zero actions and uniform actions on the same seeds. Reads copies of channels on a device.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backplane/actions.hpp"
#include "rollout/action_check.hpp"
#include "rollout/instance.hpp"
#include "rollout/joint_run.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/pool.hpp"
#include "rollout/rows.hpp"
#include "rollout/slot_buffers.hpp"
#include "rollout/slot_tracker.hpp"

namespace backplane {

// The number of steps between two reads of the clock: up to 8 in a fast env, 1 in a slow env. Reads thus cost little, and a
// slow env does not count as hung.
class LookPace {
 public:
  explicit LookPace(int64_t now_ns) : last_ns_(now_ns) {}

  bool IsDue(int64_t step) const { return step >= next_; }
  void Looked(int64_t step, int64_t now_ns) {
    every_ = now_ns - last_ns_ > kLongNs ? 1 : std::min(2 * every_, kMostSteps);
    last_ns_ = now_ns;
    next_ = step + every_;
  }

 private:
  static constexpr int64_t kMostSteps = 8, kLongNs = 50'000'000;

  int64_t every_ = 1, next_ = 0, last_ns_;
};

struct EvaluationResult {
  uint64_t capped = 0;          // episodes truncated at the cap
  uint64_t out_of_time = 0;     // episodes truncated at the deadline
  std::vector<double> returns;  // by episode
  std::vector<double> lengths;
  std::map<std::string, std::vector<double>> infos;  // "ep/..." -> by episode
};

// The first episode of each chunk of rows, and `episodes` at the end. Early chunks play many episodes, so that their rows are
// busy; late ones play at least one per row, so that threads end at about the same time. Independent of threads. `rows`: at
// most `episodes`.
std::vector<uint64_t> EpisodesOfChunks(uint64_t episodes, uint64_t rows, uint64_t chunk_rows);
uint64_t RowsForEpisodes(uint64_t episodes, uint64_t chunk_rows);  // so many that late chunks play one episode per row

class Evaluator {
 public:
  // Row r plays episode first_episode + r, and no other without PlayEpisodes.
  Evaluator(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows, uint64_t seed,
            const std::atomic<bool>& cancelled, std::function<void()> beat, uint64_t first_episode = 0);

  enum class Policy {
    kLearner = 1,  // the learner's GREEDY actions
    kZero,         // 0, or the nearest value in the action space; discrete actions: the lowest allowed choice
    kUniform,      // uniform over the action space, with the random numbers of the learner's noise
  };
  using Played = std::function<void(uint64_t begin, uint64_t end)>;
  // Every policy starts each row in the same state. Throws TrialFailure (BP_E_CANCELLED when cancelled). clocks[i] belongs to
  // runner i and counts Phase::kEval; clocks[0] is the caller's, even if it did not run before, and idle while only others
  // play. The playing thread calls `played`, if set, with the rows of each finished chunk.
  EvaluationResult Play(Policy policy, std::vector<PhaseClock>& clocks, const Played& played = {});
  uint64_t chunk_rows() const { return chunk_rows_; }
  // The maximum length of an episode that the env does not end (SlotTracker::CapOf). 0, the default: no cap. [control]
  void CapEpisodes(uint64_t steps);
  // Plays `n` episodes from first_episode on, at least one per row: a row that ends an episode starts the next one of its
  // chunk. A chunk's episodes are fixed, so results do not depend on threads. Every started episode counts. Not for an env
  // that resets itself or steps all rows together. [control]
  void PlayEpisodes(uint64_t n);
  uint64_t cap() const { return cap_; }
  // Truncates episodes of an env without a time limit at this time (NowNs). [control]
  void EndBy(int64_t deadline_ns) { deadline_ns_ = may_be_endless_ ? deadline_ns : kNever; }
  bool may_be_endless() const { return may_be_endless_; }  // the env declares no time limit
  // Calls `look` after the reset and after every step, before an ended row resets, with the return so far of a chunk's first
  // row. With one row, it sees the states of its episode. With several chunks, several threads call it.
  void OnEveryState(std::function<void(double return_so_far)> look) { look_ = std::move(look); }
  // Calls `look` after the learner's actions for rows [begin, end), before the step overwrites the observations.
  void OnEveryAct(std::function<void(SlotBuffers& buffers, uint64_t begin, uint64_t end)> look) {
    look_at_act_ = std::move(look);
  }
  // False if an action channel is neither a float32 BOX nor one int32 DISCRETE. Then there are no uniform actions, and zero is
  // zero bytes.
  bool HasUniformActions() const;

 private:
  struct ActionChannel {
    const bp_channel* channel;
    const bp_channel* mask;  // NULL: none
    std::optional<bp::ActionSpace> space;
  };
  void FindActions();
  void AssignSeeds(const std::vector<uint64_t>& seeds);
  void PlayChunk(uint64_t begin, uint64_t end, Policy policy, EvaluationResult* out);
  void StartEpisodes(uint64_t begin, uint64_t end, const std::vector<uint64_t>& seeds);
  void EndEpisode(uint64_t row, EvaluationResult* out);
  struct Chunk {
    uint64_t begin, end;
    uint64_t next, past;                 // episodes that no row has started yet
    uint64_t left;                       // unfinished episodes
    std::vector<uint8_t> done, restart;  // by row of the chunk; by row of the env
    std::vector<uint64_t> seeds;         // by row of the env
  };
  Chunk ChunkOf(uint64_t begin, uint64_t end) const;
  // Calls leave out finished rows if rows play several episodes.
  template <class Function>
  void ForEachRun(const Chunk& chunk, Function&& function) const;
  void StartEpisode(uint64_t row, uint64_t episode, int64_t t, Chunk* chunk);
  unsigned StepChunk(Policy policy, int64_t t, bool checked, const Chunk& chunk);
  void EndEpisodes(unsigned flags, int64_t t, Chunk* chunk, EvaluationResult* out);
  void RestartEnded(const Chunk& chunk);
  // Truncates the chunk's unfinished episodes.
  void EndLate(uint64_t begin, const std::vector<uint8_t>& done, EvaluationResult* out);
  void Act(uint64_t begin, uint64_t end, int64_t t, bool checked);
  void StepEnv(uint64_t begin, uint64_t end, bool checked);
  [[noreturn]] void RefuseAction(uint64_t begin, uint64_t end, int64_t t);
  void ActByItself(Policy policy, uint64_t begin, uint64_t end, int64_t t);

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  EnvInstance& env_;
  LearnerInstance& learner_;
  const Runners runners_;
  uint64_t chunk_rows_, seed_;
  const std::atomic<bool>& cancelled_;
  std::function<void()> beat_;
  std::function<void(double)> look_;
  std::function<void(SlotBuffers&, uint64_t, uint64_t)> look_at_act_;  // NULL: none
  const uint64_t first_episode_;
  const bool may_be_endless_;
  uint64_t cap_ = 0;
  int64_t deadline_ns_ = kNever;
  std::atomic<uint64_t> capped_{0}, out_of_time_{0};  // in one Play
  JointRun run_;
  SlotBuffers buffers_;
  std::vector<ChannelBuffer*> read_;  // channels read after a step
  SlotTracker tracker_;
  std::vector<RowState> rows_;     // of each row's episode
  std::vector<uint64_t> episode_;  // of each row, from 0
  std::vector<int64_t> start_;     // the call of each row's episode
  uint64_t episodes_;
  std::vector<uint64_t> starts_;  // first episodes of chunks; empty: an episode per row
  std::vector<ActionChannel> actions_;
  ActionCheck action_check_;
  BoundsCheckGate gate_;
};

}  // namespace backplane
