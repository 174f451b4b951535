// An iteration as the monitors get it: one ITER event, and a METRIC event for each number of its line in metrics.jsonl, by the
// name it has there.
#pragma once

#include "record/iteration.hpp"
#include "trial/monitors.hpp"

namespace backplane {

// The iteration lasted `duration_ns` and ended at `end_ns`, steady clock.
void PostIteration(MonitorHost& monitors, const Iteration& line, int64_t end_ns, int64_t duration_ns);
// Its numbers without an iteration.
void PostMetrics(MonitorHost& monitors, const Iteration& line);

}  // namespace backplane
