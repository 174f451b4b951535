// How long all threads of a trial together were in each phase, from one look to the next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

}  // namespace backplane
