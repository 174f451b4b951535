// What the planner has in mind, row by row.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "planner.hpp"

namespace backplane::uav_scripted {

// One for each kind of rows (those of the training, those of an evaluation): row 3 of one is not row 3 of the other.
// [any thread, each with rows of its own]
class PlanCache {
 public:
  explicit PlanCache(double goal_radius) : goal_radius_(goal_radius) {}

  // The next action of each UAV of `row`, [n_uavs] to `actions`; inactive ones stay. Plans at the start of an episode and
  // wherever the scene is not what the plan foresaw: after a restart, or where no way had been found. Throws bp::Error
  // (BP_E_UNSUPPORTED) if a part of the map has not been seen.
  void Act(uint64_t row, const Scene& scene, int32_t* actions);

 private:
  struct Plan {
    std::vector<Way> ways;
    size_t step = 0;  // of the ways, where the UAVs should be now
    bool Foresaw(const Scene& scene) const;
  };

  double goal_radius_;
  std::mutex mutex_;  // of the table; a row's plan belongs to the thread that acts in the row
  std::unordered_map<uint64_t, Plan> plans_;
};

}  // namespace backplane::uav_scripted
