// What has become of a trial, and how an attempt at it ended.
#pragma once

#include "record/words.hpp"

namespace backplane {

enum class TrialState {
  kPlanned = 1,  // to be run, also again
  kRunning,
  kCompleted,
  kPruned,
  kInfeasible,  // out of memory, or it needs at least as much as one that was
  kFailed,
  kSkipped,
  kKilled,  // of an attempt alone, in its result: it ended early and goes on later
};

constexpr auto WordsOf(TrialState) {
  return std::to_array<WordOf<TrialState>>({{TrialState::kPlanned, "PLANNED"},
                                            {TrialState::kRunning, "RUNNING"},
                                            {TrialState::kCompleted, "COMPLETED"},
                                            {TrialState::kPruned, "PRUNED"},
                                            {TrialState::kInfeasible, "INFEASIBLE"},
                                            {TrialState::kFailed, "FAILED"},
                                            {TrialState::kSkipped, "SKIPPED"},
                                            {TrialState::kKilled, "KILLED"}});
}

// COMPLETED or PRUNED: its results count, and stay as they are.
constexpr bool IsFinished(TrialState state) { return state == TrialState::kCompleted || state == TrialState::kPruned; }

// A state that no attempt of this batch will change any more.
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
  kPlugin,  // it broke its contract, or could not be loaded
  kConfig,  // a plugin refused its options
  kTemp,    // another try may go through
  kKilled,  // on request
  kStale,   // its supervisor ended before it did
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

// With which a trial fails: the classes of --only-failed.
inline constexpr Outcome kFailures[] = {Outcome::kOom,    Outcome::kNan,    Outcome::kTimeout, Outcome::kSignal,
                                        Outcome::kPlugin, Outcome::kConfig, Outcome::kTemp};

}  // namespace backplane
