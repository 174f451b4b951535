// The iteration that runs, or the last one: from a collecting request to the next one, with its ticks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rollout/clocks.hpp"

namespace backplane {

struct OpenIteration {
  bool open = false;
  bool begun = false;  // it has changed what a checkpoint would hold now
  uint64_t steps = 0;
  int64_t start_ns = 0, end_ns = 0, collect_ns = 0;

  void Start() {
    open = true;
    start_ns = NowNs();
  }
  void Collected() { collect_ns = std::max<int64_t>(NowNs() - start_ns, 1); }
  void End() {
    open = begun = false;
    end_ns = std::max(NowNs(), start_ns + 1);  // the clock may have been set back (clocks.hpp)
  }
  int64_t duration_ns() const { return end_ns - start_ns; }
  double seconds() const { return static_cast<double>(duration_ns()) * 1e-9; }
  double collecting_s() const { return static_cast<double>(collect_ns) * 1e-9; }
};

}  // namespace backplane
