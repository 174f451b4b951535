// Measures the time of all threads of a trial in each phase, between two calls.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/phase_groups.hpp"
#include "record/trial_result.hpp"
#include "rollout/phase_clock.hpp"

namespace backplane {

// [control], while the other threads are idle.
class PhaseMeter {
 public:
  // clocks[0] is the control thread's. They outlive this.
  explicit PhaseMeter(std::vector<PhaseClock>& clocks);

  // Adds the time since the last call, in seconds rounded to microseconds, and leaves out phases without time. A thread without
  // work is idle.
  void AddTo(std::map<std::string, double>* seconds);
  // Like PhaseClock::Reset of all clocks, without losing their time here.
  void ResetClocks();

 private:
  void Look();

  std::vector<PhaseClock>& clocks_;
  std::vector<std::array<int64_t, kPhaseCount>> seen_ns_;  // [clocks]
  std::array<int64_t, kPhaseCount> new_ns_{};
  int64_t since_ns_;
};

// Nanoseconds of each group so far, including the running span. A span that ends during the call may be missed; the next call
// includes it.
using GroupTimes = std::array<int64_t, kPhaseGroupCount>;
GroupTimes GroupTimesOf(const PhaseClock& clock);  // [any]

// Mean of one measure of the machine per group. A value covers the time since the previous value, weighted by each group's
// share of that time.
class GroupMeans {
 public:
  void Add(double value, const GroupTimes& now);
  std::optional<double> Mean(PhaseGroup group) const;  // absent: the group had no time

 private:
  GroupTimes last_{};
  std::array<double, kPhaseGroupCount> sums_{}, weights_{};
};

// "time" of result.json: the time of a trial by group of phases. "waiting_for_a_core" is time of threads with work but without
// a core, and "unnamed" is time of the control thread outside of all phases.
//   seconds   of all threads in total; a thread without work is idle
//   share     of (threads x wall time); the shares sum to 1
//   cpu_use   fraction of those seconds on a processor, over the spans with a CPU time; null: no such span, as for a thread
//             that waits for work
//   machine   means of monitors' values, `measured`, while the control thread was in the group
// clocks[0] is the control thread's; all threads are idle. `queued_ns`: total time in which threads were ready but had no core;
// absent: unknown, and the result has no such group.
std::map<std::string, GroupTime> TimeTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns,
                                           std::optional<int64_t> queued_ns, const std::map<std::string, GroupMeans>& measured);

// The sum over all clocks. Absent if one of them is unknown.
std::optional<int64_t> RunQueueWaitNs(const std::vector<PhaseClock>& clocks);

}  // namespace backplane
