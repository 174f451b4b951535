// One episode of the grid.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"

namespace backplane::uav_grid {

using uav::Cause, uav::kStatic, uav::kVertex, uav::kEdge, uav::kNone, uav::Status, uav::kMaxUavs;

struct Uav {
  double distance;       // to the target, cells
  int32_t x, y, tx, ty;  // where it is (once it has ended: where it was last) and its target
  int16_t dx, dy;        // the displacement of the last step; stays when the UAV has ended
  Status status;
};
static_assert(sizeof(Uav) == 32);  // no padding: a snapshot holds these bytes

// Sums over the episode. A UAV counts for one conflict a step at most, static before vertex before edge.
struct Tally {
  int64_t t;                 // steps
  int64_t arrived, crashed;  // UAVs
  int64_t walked;            // moves made; a diagonal one counts as one
  int64_t conflicts[3];      // UAVs crashed or held back, by Cause
};

struct Row {
  explicit Row(const Model& model) : tally{}, uavs(model.options.n_uavs), map(model.free_map), explored(model.unseen_map) {}

  Tally tally;
  std::vector<Uav> uavs;
  std::vector<float> map;       // with its border, as Model says
  std::vector<float> explored;  // likewise, -1 where no UAV has looked; empty unless STATE holds it
};

}  // namespace backplane::uav_grid
