// Plays whole episodes on an env instance of its own, bound to one slot, with seeds of its own. Used for evaluation and for its
// two floors: what zero and what uniform actions earn on the same seeds. Of an env on a device the host looks at copies.
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

// The number of steps that a player takes between two looks at the clock: up to 8 in a quick env, 1 in a slow env. So looks
// cost little, and a slow env does not count as hung.
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
  uint64_t capped = 0;          // episodes truncated at the cap of steps
  uint64_t out_of_time = 0;     // and at the deadline
  std::vector<double> returns;  // by episode
  std::vector<double> lengths;
  std::map<std::string, std::vector<double>> infos;  // "ep/..." -> by episode
};

class Evaluator {
 public:
  // The instance's rows are its episodes: row r plays episode first_episode + r.
  Evaluator(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows, uint64_t seed,
            const std::atomic<bool>& cancelled, std::function<void()> beat, uint64_t first_episode = 0);

  enum class Policy {
    kLearner = 1,  // the learner's GREEDY actions
    kZero,         // 0, or what the action space has nearest to it: the lowest allowed choice where actions are discrete
    kUniform,      // drawn evenly from the action space, by the numbers that the learner's own noise would have
  };
  using Played = std::function<void(uint64_t begin, uint64_t end)>;
  // Row by row the same starts for every policy. Throws TrialFailure (BP_E_CANCELLED when cancelled).
  // clocks[i] belongs to runner i and counts the time as Phase::kEval, clocks[0], the caller's, also if it did not run before.
  // It is idle while only others still play. `played`, if there is one, is called by whoever has played a chunk, with its rows.
  EvaluationResult Play(Policy policy, std::vector<PhaseClock>& clocks, const Played& played = {});
  uint64_t chunk_rows() const { return chunk_rows_; }
  // The most steps of an episode that the env does not end (SlotTracker::CapOf). 0, the default: no cap. [control]
  void CapEpisodes(uint64_t steps);
  uint64_t cap() const { return cap_; }
  // Episodes of an env that declares no time limit are truncated at this time (NowNs). [control]
  void EndBy(int64_t deadline_ns) { deadline_ns_ = may_be_endless_ ? deadline_ns : kNever; }
  bool may_be_endless() const { return may_be_endless_; }  // the env declares no time limit
  // `look` is called after the reset and after every step, before a row that has ended starts anew, with the return of a
  // chunk's first row so far. With one row, these are the states of its episode; with several chunks it is called by several
  // threads.
  void OnEveryState(std::function<void(double return_so_far)> look) { look_ = std::move(look); }
  // False if an action channel is neither a float32 BOX nor one int32 DISCRETE: then there are no uniform actions, and zero is
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
    uint64_t left;                       // episodes that are not done
    std::vector<uint8_t> done, restart;  // by row of the chunk; by row of the env
  };
  void EndEpisodes(unsigned flags, int64_t t, Chunk* chunk, EvaluationResult* out);
  void RestartEnded(const Chunk& chunk, const std::vector<uint64_t>& seeds);
  // Truncates the chunk's episodes that are not done.
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
  const uint64_t first_episode_;
  const bool may_be_endless_;
  uint64_t cap_ = 0;
  int64_t deadline_ns_ = kNever;
  std::atomic<uint64_t> capped_{0}, out_of_time_{0};  // of one Play
  JointRun run_;
  SlotBuffers buffers_;
  std::vector<ChannelBuffer*> read_;  // what tells of a step
  SlotTracker tracker_;
  std::vector<RowState> rows_;  // episode by episode
  std::vector<ActionChannel> actions_;
  ActionCheck action_check_;
  BoundsCheckGate gate_;
};

}  // namespace backplane
