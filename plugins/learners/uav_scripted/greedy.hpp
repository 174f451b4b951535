// A greedy policy: each UAV independently, one step ahead.
#pragma once

#include <cstdint>

#include "scene.hpp"

namespace backplane::uav_scripted {

// The action that brings UAV `self` closest (Euclid) to its target, among the actions allowed by its mask [kActions] and the
// map. The lowest of equal actions wins; a later one must be shorter by more than 1e-12. With `keep_apart`, cells within one
// step of another active UAV's position count as 3 cells farther.
int32_t GreedyAction(const Scene& scene, int64_t self, const uint8_t* mask, bool keep_apart);

}  // namespace backplane::uav_scripted
