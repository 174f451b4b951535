// States of trials and outcomes of attempts.
#pragma once

#include "record/words.hpp"

namespace backplane {

enum class TrialState {
  kPlanned = 1,  // waiting to run, also again
  kRunning,
  kCompleted,
  kPruned,
  kInfeasible,  // out of memory, or it needs at least as much as one that was
  kFailed,
  kSkipped,
  kKilled,  // attempts only, in the result: stopped early, to be resumed
  // Displays and progress.json only, for trials on a cluster.
  kQueued,  // its attempt waits in the cluster's queue
  kLost,    // its node was lost or gives no sign of life, and no other node runs it yet
};

constexpr auto WordsOf(TrialState) {
  return std::to_array<WordOf<TrialState>>({{TrialState::kPlanned, "PLANNED"},
                                            {TrialState::kRunning, "RUNNING"},
                                            {TrialState::kCompleted, "COMPLETED"},
                                            {TrialState::kPruned, "PRUNED"},
                                            {TrialState::kInfeasible, "INFEASIBLE"},
                                            {TrialState::kFailed, "FAILED"},
                                            {TrialState::kSkipped, "SKIPPED"},
                                            {TrialState::kKilled, "KILLED"},
                                            {TrialState::kQueued, "QUEUED"},
                                            {TrialState::kLost, "LOST"}});
}

// COMPLETED or PRUNED: its results count and are final.
constexpr bool IsFinished(TrialState state) { return state == TrialState::kCompleted || state == TrialState::kPruned; }

// No attempt of this batch changes such a state.
constexpr bool IsFinal(TrialState state) {
  return IsFinished(state) || state == TrialState::kInfeasible || state == TrialState::kFailed || state == TrialState::kSkipped;
}

enum class Outcome {
  kOk = 1,
  kPruned,
  kOom,
  kNan,
  kTimeout,
  kSignal,
  kPlugin,  // broken contract or failed to load
  kConfig,  // a plugin rejected its options
  kTemp,    // temporary; a retry may succeed
  kKilled,  // on request
  kStale,   // its supervisor died first
};

constexpr auto WordsOf(Outcome) {
  return std::to_array<WordOf<Outcome>>({{Outcome::kOk, "ok"},
                                         {Outcome::kPruned, "pruned"},
                                         {Outcome::kOom, "oom"},
                                         {Outcome::kNan, "nan"},
                                         {Outcome::kTimeout, "timeout"},
                                         {Outcome::kSignal, "signal"},
                                         {Outcome::kPlugin, "plugin"},
                                         {Outcome::kConfig, "config"},
                                         {Outcome::kTemp, "temp"},
                                         {Outcome::kKilled, "killed"},
                                         {Outcome::kStale, "stale"}});
}

// Outcomes that fail a trial: the classes of --only-failed.
inline constexpr Outcome kFailures[] = {Outcome::kOom,    Outcome::kNan,    Outcome::kTimeout, Outcome::kSignal,
                                        Outcome::kPlugin, Outcome::kConfig, Outcome::kTemp};

}  // namespace backplane
