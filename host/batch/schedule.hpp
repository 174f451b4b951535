// Which trial runs next: the plan's order, bent only where memory axes want the smaller ones first, a retry has to wait, or a
// trial starts from one that has not come to its end.
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

  // The plan has more trials than it had, at its end: they are PLANNED. Not for one with memory axes or stages.
  void Grow();

  void Set(size_t trial, TrialState state);
  TrialState state(size_t trial) const { return states_[trial]; }
  // A planned trial that this session leaves alone (--only-failed), or one that must not start before `time_s`.
  // Those that start from it are left too.
  void Leave(size_t trial);
  void Delay(size_t trial, double time_s);

  // The first planned trial that may start now. Whoever finds no room for it waits: nothing passes it, so a large trial is not
  // starved by small ones.
  std::optional<size_t> Next(double now_s) const;
  bool Waits(size_t trial) const { return ready_.contains(trial); }  // planned, and this session is to run it
  // How many wait.
  size_t waiting() const { return ready_.size(); }

  // Planned trials that start from one which ended without being COMPLETED, or from one of these: they never can. In the order
  // of the plan.
  std::vector<size_t> NeverCan() const;
  // The trial that `trial` starts from came to no end that it could start from.
  bool LostItsStart(size_t trial) const;

  // The trials that `trial`, which did not fit into memory, speaks for: those still planned.
  std::vector<size_t> NeedAsMuchAs(size_t trial) const;
  // Planned trials that can not fit into memory, each with one that needs no more and did not: an earlier session may have
  // ended before it drew the conclusion, or the plan may be larger now.
  std::map<size_t, size_t> OutOfMemoryToo() const;

 private:
  bool SmallerFirst(size_t trial) const;

  const Plan& plan_;
  MemoryFrontier frontier_;
  std::vector<TrialState> states_;              // [trials]
  std::vector<double> not_before_;              // [trials]
  std::vector<std::vector<size_t>> trials_of_;  // [points]
  std::vector<std::vector<size_t>> next_;       // [trials] those that start from it; empty: no trial does from any
  std::set<size_t> ready_;                      // planned and wanted, in plan order
};

}  // namespace backplane
