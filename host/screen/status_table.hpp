// A batch as a block of text: a line of totals, then a line per trial, for `run`, `status` and `watch`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/trial_state.hpp"
#include "screen/progress.hpp"

namespace backplane {

struct BatchRow {
  std::string name;
  TrialState state = TrialState::kPlanned;
  std::optional<double> progress, sps, episode_return;  // progress: 0 to 1
  std::optional<double> elapsed_s;                      // of the last attempt
  std::string why;                                      // of what did not end well
  double ended = 0;                                     // seconds since 1970; the latest stands first
  std::vector<LiveValue> live = {};                     // of output.live, in its order
  uint64_t iterations = 0;                              // complete ones, of the last attempt while it runs
};

struct BatchTotals {
  double elapsed_s = 0;  // of all sessions
  std::optional<double> left_s;
  std::string left_from;       // evidence of `left_s`: "from 3 finished trials", "after 2 iterations"; empty: too little yet
  std::string note;            // "paused: 3 failures in 60 s"; stands behind the figures
  std::string best = {};       // of a search so far: "eval/return 487.3, number 12: lr=0.0021"; a line of its own
  size_t to_come = 0;          // trials that a search will add, at most; they have no rows yet
  std::string waits_for = {};  // the scheduler's reason if trials wait in a cluster's queue: "Slurm: Resources"
};

// "12 of 24 done, 2 running, 1 failed, 3 queued (Slurm: Resources)   0:42, about 1:10 left". Done are all that need nothing
// more, however they ended.
std::string FormatTotals(const std::vector<BatchRow>& rows, const BatchTotals& totals);

// "best so far: eval/return 487.3, number 12: lr=0.0021"; empty: there is none.
std::string FormatBest(const BatchTotals& totals);

// Lines that end with a line feed: totals, the best of a search, a heading, and the trials: running, lost, queued, failed,
// latest ended, then planned in their order. No line is wider than the screen, and there are at most screen.height of them; the
// last one counts the rest. Columns that leave no room for the name are dropped from the right, the ones by output.live first.
std::string FormatBatch(const std::vector<BatchRow>& rows, const BatchTotals& totals, const Screen& screen);

// One trial for a log: "lr=0.1 seed=2  completed  100 %  12,345 steps/s  return 812.4  0:42".
std::string FormatTrialLine(const BatchRow& row);

std::string StateWord(TrialState state);  // "completed": for people

}  // namespace backplane
