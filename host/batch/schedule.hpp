// Selects the next trial in the plan's order, except that memory axes need smaller trials first, retries may wait, and a trial
// waits for the end of the trial it starts from.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "batch/memory_frontier.hpp"
#include "record/trial_state.hpp"

namespace backplane {

class Schedule {
 public:
  // Every trial starts as PLANNED.
  explicit Schedule(const Plan& plan);

  // Adds the plan's new trials, at its end, as PLANNED. Not for plans with memory axes or stages.
  void Grow();

  void Set(size_t trial, TrialState state);
  TrialState state(size_t trial) const { return states_[trial]; }
  // Excludes a planned trial from this session (--only-failed) or delays its start until `time_s`. Applies to the trials that
  // start from it as well.
  void Leave(size_t trial);
  void Delay(size_t trial, double time_s);

  // The first planned trial that may start now. If there is no room for it, wait: later trials never pass it, so small trials
  // do not starve a large one.
  std::optional<size_t> Next(double now_s) const;
  bool Waits(size_t trial) const { return ready_.contains(trial); }  // planned in this session
  // The number of waiting trials.
  size_t waiting() const { return ready_.size(); }

  // Planned trials that can never start, because a trial they start from ended without being COMPLETED. In plan order.
  std::vector<size_t> NeverCan() const;
  // True if the trial that `trial` starts from ended without a state to start from.
  bool LostItsStart(size_t trial) const;

  // Planned trials that need at least as much memory as `trial`, which ran out of memory.
  std::vector<size_t> NeedAsMuchAs(size_t trial) const;
  // Planned trials that cannot fit into memory, each with one that needs no more and ran out. An earlier session may have ended
  // before this conclusion, or the plan may be larger now.
  std::map<size_t, size_t> OutOfMemoryToo() const;

 private:
  bool SmallerFirst(size_t trial) const;

  const Plan& plan_;
  MemoryFrontier frontier_;
  std::vector<TrialState> states_;              // [trials]
  std::vector<double> not_before_;              // [trials]
  std::vector<std::vector<size_t>> trials_of_;  // [points]
  std::vector<std::vector<size_t>> next_;       // [trials] those that start from it; empty: no trial starts from another
  std::set<size_t> ready_;                      // planned and selected, in plan order
};

}  // namespace backplane
