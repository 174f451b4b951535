// What a setting must keep free to be called balanced.
#pragma once

#include <optional>

namespace backplane {

// In percent; absent: no limit. To fill the machine is the goal, so only memory has a limit from the start: a machine without
// memory left stops.
struct BalancedLimits {
  std::optional<double> efficiency;  // at least; all others at most
  double memory = 80;
  std::optional<double> device_memory, cpu, gpu;
};

}  // namespace backplane
