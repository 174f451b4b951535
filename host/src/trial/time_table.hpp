// Where a trial's time went, in groups of phases: "time" of result.json.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trial/group_means.hpp"

namespace backplane {

// By group, and "unnamed" for what the control thread spent in no phase:
//   seconds   of all threads together; a thread without work is idle
//   share     of (threads x wall time); the shares sum to 1
//   cpu_use   part of those seconds in which the thread was on a processor, by the spans whose CPU time was taken; null: none
//             was, as of a thread that waits for work
//   machine   means of what monitors recorded, `measured`, while the control thread was in the group
// clocks[0] is the control thread's; all threads rest.
nlohmann::json TimeTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns,
                         const std::map<std::string, GroupMeans>& measured);

}  // namespace backplane
