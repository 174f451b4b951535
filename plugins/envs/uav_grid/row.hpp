// One episode of the grid.
#pragma once

#include <cstdint>
#include <vector>

#include "meetings.hpp"
#include "model.hpp"
#include "near.hpp"

namespace backplane::uav_grid {

using uav::Cause, uav::kStatic, uav::kVertex, uav::kEdge, uav::kNone, uav::Status;

struct Uav {
  double distance;       // to the target, cells
  int32_t x, y, tx, ty;  // position (the last one after it has ended) and target
  int16_t dx, dy;        // displacement of the last step; kept after the UAV has ended
  Status status;
};
static_assert(sizeof(Uav) == 32);  // no padding: snapshots contain these bytes

// Sums over the episode. A UAV counts for at most one conflict per step, static before vertex before edge.
struct Tally {
  int64_t t;                 // steps
  int64_t arrived, crashed;  // UAVs
  int64_t walked;            // moves made; a diagonal one counts as one
  int64_t conflicts[3];      // UAVs crashed or held back, by Cause
};

// The moves that active UAVs propose in a step, by index. Places are y << 16 | x, so that sums of two keep x and y separate.
struct Proposals {
  explicit Proposals(int64_t n_uavs)
      : who(n_uavs), from(n_uavs), to(n_uavs), middle(n_uavs), cause(n_uavs), held(n_uavs), meetings(n_uavs) {}
  bool Moves(int64_t k) const { return to[k] != from[k]; }
  void Stay(int64_t k) { to[k] = from[k], middle[k] = 2 * from[k]; }

  int64_t n = 0;
  std::vector<int32_t> who, from, to;
  std::vector<int32_t>
      middle;  // from + to: equal for two movers that swap or cross; odd in x or y, so never equal for a UAV that stays
  std::vector<Cause> cause;  // of a crash or hold
  std::vector<Cause> held;   // in this pass
  Meetings meetings;
};

struct Row {
  explicit Row(const Model& model)
      : tally{},
        uavs(model.options.n_uavs),
        map(model.free_map),
        shown(uav::MapSize(model.options)),
        near(model),
        proposals(model.options.n_uavs),
        earned(model.options.n_uavs),
        unwanted(model.options.n_uavs) {}

  Tally tally;
  std::vector<Uav> uavs;
  std::vector<int8_t> map;    // with its border, see Model
  std::vector<int8_t> shown;  // the map of STATE, without a border: -1 if unseen

  // Workspace of a step.
  mutable NearLists near;
  Proposals proposals;
  std::vector<double> earned;
  std::vector<uint8_t> unwanted;  // agent_ended if it is not requested
};

}  // namespace backplane::uav_grid
