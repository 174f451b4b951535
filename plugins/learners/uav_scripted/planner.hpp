// Plans ways for all UAVs together: prioritised planning with A* in space and time (D. Silver, "Cooperative Pathfinding", AIIDE
// 2005).
#pragma once

#include <vector>

#include "scene.hpp"

namespace backplane::uav_scripted {

// way[k]: the UAV's cell k steps after planning; it leaves the board after the last one. A single cell: no way was found, so
// the UAV stays for a step, the others avoid its cell, and all plan again. Empty: it was not active.
using Way = std::vector<Cell>;

// A way for each UAV, in the order of the scene. The farthest from its target (Euclid) plans first; each avoids the cells of
// earlier ones in the same step and does not swap or cross with them. A UAV without a way plans first in a new round; after as
// many rounds as UAVs it stays. A UAV arrives when it is closer than `goal_radius` to its target, and leaves its cell after
// that step. The scene must have a map.
std::vector<Way> PlanWays(const Scene& scene, double goal_radius);

}  // namespace backplane::uav_scripted
