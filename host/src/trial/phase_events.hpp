// Sends what the threads of a trial did, as PHASE events, to the monitors that want to know. Nothing is traced for nobody.
#pragma once

#include <memory>
#include <vector>

#include "rollout/phase_trace.hpp"
#include "trial/monitors.hpp"

namespace backplane {

class PhaseEvents {
 public:
  // Both outlive it. Monitors are created by now.
  PhaseEvents(std::vector<PhaseClock>& clocks, MonitorHost& monitors);
  ~PhaseEvents();
  PhaseEvents(const PhaseEvents&) = delete;

  // Posts what was traced since the last call, and starts or stops tracing as the monitors now want it. [control], while the
  // other threads rest
  void HandOver(uint64_t iteration, uint64_t env_steps);

 private:
  void Attach();
  void Detach();

  std::vector<PhaseClock>& clocks_;
  MonitorHost& monitors_;
  std::vector<std::unique_ptr<PhaseTrace>> traces_;  // [clocks]; empty: nobody listens
};

}  // namespace backplane
