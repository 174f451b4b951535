// How long all threads of a trial together were in each phase, from one look to the next.
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

// [control], while the other threads rest.
class PhaseMeter {
 public:
  // clocks[0] is the control thread's. They outlive this.
  explicit PhaseMeter(std::vector<PhaseClock>& clocks);

  // Adds what went by since the last call, in seconds to the microsecond; a phase without one is left out. A thread without
  // work is idle.
  void AddTo(std::map<std::string, double>* seconds);
  // As PhaseClock::Reset of all: what they have counted by then is not lost here.
  void ResetClocks();

 private:
  void Look();

  std::vector<PhaseClock>& clocks_;
  std::vector<std::array<int64_t, kPhaseCount>> seen_ns_;  // [clocks]
  std::array<int64_t, kPhaseCount> new_ns_{};
  int64_t since_ns_;
};

// What monitors measure of the machine, by what the trial was doing meanwhile.
//
// Nanoseconds of each group so far, the running span included. A span that ends just now may be missed; the next reading has
// it.
using GroupTimes = std::array<int64_t, kPhaseGroupCount>;
GroupTimes GroupTimesOf(const PhaseClock& clock);  // [any]

// Mean of one measure in each group. A value speaks of the time since the one before, so it counts for each group by the time
// that the group had in between: what comes and goes faster than values are taken can not be told apart.
class GroupMeans {
 public:
  void Add(double value, const GroupTimes& now);
  std::optional<double> Mean(PhaseGroup group) const;  // absent: the group had no time

 private:
  GroupTimes last_{};
  std::array<double, kPhaseGroupCount> sums_{}, weights_{};
};

// Where a trial's time went, in groups of phases: "time" of result.json.
//
// By group; "waiting_for_a_core", what threads with work spent without one, which no group holds; and "unnamed" for what the
// control thread spent in no phase:
//   seconds   of all threads together; a thread without work is idle
//   share     of (threads x wall time); the shares sum to 1
//   cpu_use   part of those seconds in which the thread was on a processor, by the spans whose CPU time was taken; null: none
//             was, as of a thread that waits for work
//   machine   means of what monitors recorded, `measured`, while the control thread was in the group
// clocks[0] is the control thread's; all threads rest. `queued_ns`: how long they were ready to run and no core was free, of
// all together; absent: nobody knows, and no group is named for it.
std::map<std::string, GroupTime> TimeTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns,
                                           std::optional<int64_t> queued_ns, const std::map<std::string, GroupMeans>& measured);

// Of all clocks. Absent where one is not known.
std::optional<int64_t> RunQueueWaitNs(const std::vector<PhaseClock>& clocks);

}  // namespace backplane
