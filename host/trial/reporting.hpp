// Reports a running trial in its status file and to monitors.
#pragma once

#include <memory>
#include <vector>

#include "record/iteration.hpp"
#include "rollout/phase_trace.hpp"
#include "trial/live_columns.hpp"
#include "trial/loop_state.hpp"
#include "trial/monitors.hpp"

namespace backplane {

// Sends the phases of all threads as PHASE events. Traces only while a monitor wants these events.
class PhaseEvents {
 public:
  // Both outlive it. The monitors must exist already.
  PhaseEvents(std::vector<PhaseClock>& clocks, MonitorHost& monitors);
  ~PhaseEvents();
  PhaseEvents(const PhaseEvents&) = delete;

  // Posts the spans since the last call, and starts or stops tracing as the monitors want it. [control], while the other
  // threads are idle
  void HandOver(uint64_t iteration, uint64_t env_steps);

 private:
  void Attach();
  void Detach();

  std::vector<PhaseClock>& clocks_;
  MonitorHost& monitors_;
  std::vector<std::unique_ptr<PhaseTrace>> traces_;  // [clocks]; empty: no monitor wants them
};

// Posts an iteration to the monitors: one ITER event, and a METRIC event per number of its line in metrics.jsonl, with the same
// name. It lasted `duration_ns` and ended at `end_ns`, steady clock.
void PostIteration(MonitorHost& monitors, const Iteration& line, int64_t end_ns, int64_t duration_ns);
// Posts only the numbers.
void PostMetrics(MonitorHost& monitors, const Iteration& line);

class Reporting {
 public:
  Reporting(const LoopParts& parts, LoopState& state, WarningList& warnings);

  // Reports an iteration by its line in metrics.jsonl. `progress`: of the trial, 0 to 1.
  void ReportIteration(const Iteration& line, double progress, const CollectData& data);
  // Reports numbers without an iteration.
  void ReportMetrics(const Iteration& line);
  // Posts the threads' phases since the last iteration.
  void HandOverPhases() { phase_events_.HandOver(state_.count.iterations, state_.count.env_steps); }

 private:
  const LoopParts& parts_;
  LoopState& state_;
  LiveColumns live_;
  PhaseEvents phase_events_;
};

}  // namespace backplane
