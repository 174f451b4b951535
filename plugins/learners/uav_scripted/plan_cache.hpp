// Caches the planner's ways per row.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "planner.hpp"

namespace backplane::uav_scripted {

// One per kind of rows, for training or evaluation, because their row numbers are independent. [any thread, each with rows of
// its own]
class PlanCache {
 public:
  explicit PlanCache(double goal_radius) : goal_radius_(goal_radius) {}

  // The next action of each UAV of `row`, [n_uavs] to `actions`; inactive ones stay. Plans at the start of an episode and
  // whenever the scene differs from the plan: after a restart, or if no way was found. Throws bp::Error (BP_E_UNSUPPORTED) if a
  // part of the map has not been seen.
  void Act(uint64_t row, const Scene& scene, int32_t* actions);

 private:
  struct Plan {
    std::vector<Way> ways;
    size_t step = 0;  // index in the ways of the UAVs' present cells
    bool Foresaw(const Scene& scene) const;
  };

  double goal_radius_;
  std::mutex mutex_;  // guards the table; a row's plan belongs to the thread that acts in the row
  std::unordered_map<uint64_t, Plan> plans_;
};

}  // namespace backplane::uav_scripted
