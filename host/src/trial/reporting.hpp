// Tells of the trial while it runs: in its status file, and to monitors.
#pragma once

#include <nlohmann/json.hpp>

#include "trial/live_columns.hpp"
#include "trial/phase_events.hpp"
#include "trial/trial_state.hpp"

namespace backplane {

class Reporting {
 public:
  Reporting(const LoopParts& parts, TrialState& state, WarningList& warnings);

  // Of an iteration, by its line in metrics.jsonl. `progress`: of the trial, 0 to 1.
  void Iteration(const nlohmann::json& line, double progress, const CollectData& data);
  // Of numbers that come without an iteration.
  void Metrics(const nlohmann::json& line);
  // What the threads did since the last iteration.
  void HandOverPhases() { phase_events_.HandOver(state_.count.iterations, state_.count.env_steps); }

 private:
  const LoopParts& parts_;
  TrialState& state_;
  LiveColumns live_;
  PhaseEvents phase_events_;
};

}  // namespace backplane
