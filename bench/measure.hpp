// How a cost is measured: both clocks, and what other programs took of the machine meanwhile.
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

// The only caller of what is measured: instruction counts are taken between its entry and its exit, by this name.
extern "C" void backplane_bench_measured(const std::function<void()>& work);

Cost Measure(const std::function<void()>& work);

// {"median", "min", "max", "n"}; null without values.
nlohmann::json Spread(std::vector<double> values);

}  // namespace backplane::bench
