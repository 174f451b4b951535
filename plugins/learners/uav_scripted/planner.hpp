// Ways for all UAVs at once: prioritised planning with A* in space and time (D. Silver, "Cooperative Pathfinding", AIIDE 2005).
#pragma once

#include <vector>

#include "scene.hpp"

namespace backplane::uav_scripted {

// way[k]: where the UAV is k steps after the plan was made; it is off the board after the last one. One cell alone: no way was
// found, it stays for a step, in which nobody enters its cell, and all are to be planned anew. Empty: it was not active.
using Way = std::vector<Cell>;

// A way for each UAV, in the order of the scene. The farthest from its target (Euclid) plans first; each avoids the cells that
// those before it take in the same step and does not swap or cross with them. One that is left without a way plans first in a
// new round; after as many rounds as there are UAVs it stays. A UAV has arrived closer than `goal_radius` to its target, and
// leaves its cell after that step. The scene has a map.
std::vector<Way> PlanWays(const Scene& scene, double goal_radius);

}  // namespace backplane::uav_scripted
