// Scores candidates: plays the episodes of a learner's EVALUATE request, each from its own seed, and sums their rewards. A job
// is one episode of one candidate. A job's result depends only on its candidate and seed, and sums over jobs follow the order
// of the jobs. Results therefore do not depend on threads, rows or the number of candidates in flight.
//
// A ROW_EXACT learner may act on any rows together: a row whose job has ended takes the next one immediately, and threads do
// not wait while there are jobs. With other learners, a row's action may depend on its batch, so jobs are assigned to rows in a
// fixed order and in waves: chunk by chunk, and all rows of a chunk act until its last job has ended.
//
// An env that steps all its rows in one call (ext/batch.h) has one thread, and its rows start by one reset per step. Rows
// without a job play on, and their steps are not counted.
//
// A step copies, allocates and locks nothing.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "rollout/action_check.hpp"
#include "rollout/candidate_scores.hpp"
#include "rollout/instance.hpp"
#include "rollout/job_queue.hpp"
#include "rollout/joint_run.hpp"
#include "rollout/phase_clock.hpp"
#include "rollout/play_elsewhere.hpp"
#include "rollout/pool.hpp"
#include "rollout/row_sharing.hpp"
#include "rollout/rows.hpp"
#include "rollout/slot_buffers.hpp"
#include "rollout/slot_tracker.hpp"

namespace backplane {

class CandidateScorer {
 public:
  // `chunk_rows`: maximum number of rows that a thread plays together. Every runner calls `beat`, as in RolloutCollector.
  CandidateScorer(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows, uint64_t seed,
                  const std::atomic<bool>& cancelled, std::function<void()> beat);

  // Throws TrialFailure if this env cannot serve this EVALUATE.
  static void Check(const bp_request& request, const EnvInstance& env, const LearnerInstance& learner);

  // As in Evaluator, except that a deadline ends Score instead of an episode. [control]
  void CapEpisodes(uint64_t steps) { cap_ = SlotTracker::CapOf(env_, steps); }
  void EndBy(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }
  uint64_t cap() const { return cap_; }
  // Episodes of the last Score that the cap truncated.
  uint64_t capped() const;

  // Call once before the first Score, and again after the env was bound elsewhere. Ends all episodes of its rows.
  void Bind() { slot_.Bind(); }
  // Plays all jobs of a checked request. False if cancelled or past the deadline: then deliver no scores. Throws TrialFailure.
  // clocks[i] belongs to runner i; clocks[0] is the caller's and already runs. `elsewhere` plays some jobs of a ROW_EXACT
  // learner and this process the rest; NULL: this process plays all.
  bool Score(const bp_request& request, std::vector<PhaseClock>& clocks, PlayElsewhere* elsewhere = nullptr);

  // For a worker process with a ROW_EXACT learner. Call StartGiven, then PlayGiven, and meanwhile Give from another thread
  // until CloseJobs. `most`: maximum number of rows that a thread plays together. The playing thread calls `ended` with each
  // ended job and its score. [control]
  void StartGiven(const bp_request& request, uint64_t most, std::function<void(uint64_t job, const JobScore&)> ended);
  void PlayGiven(std::vector<PhaseClock>& clocks);  // throws TrialFailure
  bool Give(const std::vector<uint64_t>& jobs);     // false: no job of the request
  void CloseJobs();

  // Results of the last Score; valid until the next.
  bp_delivery Delivery() { return scores_.Delivery(); }
  const std::vector<Episode>& episodes() const { return scores_.episodes(); }  // by job; Episode::row is the candidate
  const std::vector<std::string>& info_names() const { return info_names_; }
  uint64_t env_steps() const { return scores_.env_steps(); }
  const PoolUse& use() const { return use_; }
  // A sentence with the candidate and episode of the first non-finite observation, if the moments contain one.
  std::optional<std::string> NonFiniteObservation() const;

 private:
  // On its own cache line, because different threads may play neighbouring rows.
  struct alignas(64) Player {
    double episode_return = 0;
    int64_t episode_length = 0;
    uint64_t job = 0;
  };

  void Start(const bp_request& request);
  bool PlayFromQueue(std::vector<PhaseClock>& clocks, uint64_t most);
  void CheckFirstScore();
  bool ScoreInWaves(std::vector<PhaseClock>& clocks);
  void PlayFromQueue(unsigned runner, PhaseClock& clock);
  void PlayWave(unsigned runner, uint64_t first, uint64_t end, PhaseClock& clock);
  void PlayOn(RunnerRows& mine, PhaseClock& clock);
  void StopAll();
  void Step(RunnerRows& mine, PhaseClock& clock, bool checked = false);
  void StepInFirstScore(RunnerRows& mine, PhaseClock& clock);
  void Act(const RowRange& rows, bool checked = false);
  void StepEnv(const RowRange& rows, bool checked = false);
  void CheckActions(const RowRange& rows);
  void AddObservation(uint64_t row);
  bool Track(const RowRange& rows);
  bool HasRoom(const RunnerRows& mine) const;
  void TakeJobs(RunnerRows& mine, PhaseClock& clock);
  void NextJobs(RunnerRows& mine);
  void Begin(uint64_t row, uint64_t job);
  void Reset(uint64_t begin, uint64_t end, const uint8_t* mask);
  void End(uint64_t row);
  // candidate_scorer_whole.cpp, for an env that steps all rows together
  void StartAllRows();
  void RestartIdleRows();
  void ResetStarting();
  void ResetStarting(PhaseClock& clock);
  // candidate_scorer_non_finite.cpp
  std::string StepOf(uint64_t job, int64_t step) const;  // "candidate 2 at step 3 of its episode 0"
  [[noreturn]] void RefuseStep(const RowRange& rows);
  [[noreturn]] void RefuseReward(uint64_t row);
  [[noreturn]] void RefuseAction(const RowRange& rows);
  std::optional<std::string> ReplayForNonFinite(uint64_t row, uint64_t job, int64_t steps, int64_t* out_step);

  EnvInstance& env_;
  LearnerInstance& learner_;
  const Runners runners_;
  const uint64_t chunk_rows_, seed_;
  const std::atomic<bool>& cancelled_;
  std::function<void()> beat_;
  const bool row_exact_, wants_moments_, whole_;
  uint64_t cap_ = 0;  // 0: none
  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();

  SlotBuffers slot_;
  ChannelBuffer &obs_, *state_;
  uint64_t obs_per_row_, state_per_row_ = 0;
  SlotTracker tracker_;
  const std::vector<std::string> info_names_;
  std::vector<ChannelBuffer*> infos_;  // [info_names_]

  // The current request.
  uint64_t candidates_ = 0, episodes_each_ = 1, jobs_ = 0, in_flight_ = 0, most_given_ = 1;
  bool capped_by_host_ = false;  // the cap is the shortest limit
  const uint64_t* seeds_ = nullptr;

  JobQueue queue_;
  RowSharing sharing_;
  JointRun run_;
  ActionCheck actions_;
  BoundsCheckGate gate_;
  std::atomic<uint64_t> steps_before_{0};  // in the first Score, over all runners
  PoolUse use_;
  std::atomic<uint64_t> next_chunk_{0};  // in a wave
  std::vector<Player> players_;          // [rows]
  std::vector<int32_t> candidate_;       // [rows]; -1: none
  std::vector<uint64_t> row_seeds_;      // [rows]
  std::vector<uint8_t> starting_;        // [rows] the next reset of all rows starts them
  CandidateScores scores_;
  std::function<void(uint64_t, const JobScore&)> ended_;  // empty: no callback
};

}  // namespace backplane
