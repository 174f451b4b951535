// An iteration as the monitors get it: one ITER event, and a METRIC event for each number of its line in metrics.jsonl, by the
// name it has there.
#pragma once

#include <nlohmann/json.hpp>

#include "record/iteration.hpp"
#include "trial/monitors.hpp"

namespace backplane {

// `line` as MetricsFile writes it; the iteration lasted `duration_ns` and ended at `end_ns`, steady clock.
void PostIteration(MonitorHost& monitors, const Iteration& line, int64_t end_ns, int64_t duration_ns);
inline void PostIteration(MonitorHost& monitors, const nlohmann::json& line, int64_t end_ns, int64_t duration_ns) {
  PostIteration(monitors, ReadTolerantly<Iteration>(line), end_ns, duration_ns);
}
// Its numbers without an iteration.
void PostMetrics(MonitorHost& monitors, const Iteration& line);
inline void PostMetrics(MonitorHost& monitors, const nlohmann::json& line) {
  PostMetrics(monitors, ReadTolerantly<Iteration>(line));
}

}  // namespace backplane
