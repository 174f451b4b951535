// Tells of the trial while it runs: in its status file, and to monitors.
#pragma once

#include "trial/live_columns.hpp"
#include "trial/loop_state.hpp"
#include "trial/phase_events.hpp"

namespace backplane {

class Reporting {
 public:
  Reporting(const LoopParts& parts, LoopState& state, WarningList& warnings);

  // Of an iteration, by its line in metrics.jsonl. `progress`: of the trial, 0 to 1.
  void ReportIteration(const Iteration& line, double progress, const CollectData& data);
  // Of numbers that come without an iteration.
  void ReportMetrics(const Iteration& line);
  // What the threads did since the last iteration.
  void HandOverPhases() { phase_events_.HandOver(state_.count.iterations, state_.count.env_steps); }

 private:
  const LoopParts& parts_;
  LoopState& state_;
  LiveColumns live_;
  PhaseEvents phase_events_;
};

}  // namespace backplane
