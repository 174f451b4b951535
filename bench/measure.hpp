// Measures a cost by both clocks, and the CPU time of other programs meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

namespace backplane::bench {

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;   // of this process, all threads
  double others = 0;  // share of the machine's CPU time that went to other programs
  uint64_t allocations = 0;
};

// The only caller of the measured work: instruction counters start at its entry and stop at its exit, by this name.
extern "C" void backplane_bench_measured(const std::function<void()>& work);

Cost Measure(const std::function<void()>& work);

// {"median", "min", "max", "n"}; null without values.
nlohmann::json Spread(std::vector<double> values);

}  // namespace backplane::bench
