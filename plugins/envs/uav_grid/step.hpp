// The rules of a step, `standard` of the multi-UAV grid.
#pragma once

#include "row.hpp"

namespace backplane::uav_grid {

// Moves all UAVs at once. action, reward, ended: [n_uavs]; actions of UAVs that have ended are not looked at. `ended` is 1 for
// those that arrived or crashed in this step. Returns false, with nothing changed, if an active UAV has an action outside
// 0 .. 8. Neither allocates nor locks.
bool Advance(const Model& model, const int32_t* action, Row* row, float* reward, uint8_t* ended);

}  // namespace backplane::uav_grid
