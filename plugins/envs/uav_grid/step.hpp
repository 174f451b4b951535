// The rules of a step, `standard` of the multi-UAV grid.
#pragma once

#include "row.hpp"

namespace backplane::uav_grid {

// Moves all UAVs simultaneously. action, reward, ended: [n_uavs]; actions of UAVs that have ended are ignored. `ended` is 1 for
// UAVs that arrived or crashed in this step. Returns false without changes if an active UAV has an action outside 0 .. 8.
// Neither allocates nor locks.
bool Advance(const Model& model, const int32_t* action, Row* row, float* reward, uint8_t* ended);

}  // namespace backplane::uav_grid
