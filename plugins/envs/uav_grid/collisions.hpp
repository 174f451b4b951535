// Collisions between UAVs that move at the same time: two in one cell, or two that swap cells.
#pragma once

#include "row.hpp"

namespace backplane::uav_grid {

// Marks all UAVs of a conflict as crashed.
void CrashConflicts(Proposals* p);

// Sends movers back until there is no conflict. With `priority`, the mover with the lowest index may enter a free cell.
void HoldBackConflicts(bool priority, Proposals* p);

}  // namespace backplane::uav_grid
