// Where a trial's time went, in groups of phases: "time" of result.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/trial_result.hpp"
#include "trial/phase_meter.hpp"

namespace backplane {

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
