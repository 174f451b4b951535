// Each UAV for itself, one step ahead.
#pragma once

#include <cstdint>

#include "scene.hpp"

namespace backplane::uav_scripted {

// The action that leads UAV `self` closest (Euclid) to its target among those that its mask [kActions] and the map allow. Of
// equal ones the lowest; a later one is taken only if it is shorter by more than 1e-12. With `keep_apart`, cells within one
// step of where another active UAV stands now count as 3 cells farther.
int32_t GreedyAction(const Scene& scene, int64_t self, const uint8_t* mask, bool keep_apart);

}  // namespace backplane::uav_scripted
