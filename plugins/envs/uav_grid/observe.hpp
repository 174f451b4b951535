// Writes OBS, STATE, ACTION_MASK and ALIVE of a row in the layout of uav/rules.hpp.
#pragma once

#include "row.hpp"

namespace backplane::uav_grid {

// The outputs of one row; every element is written.
struct View {
  float* obs;      // [n_uavs, ObsSize]
  int8_t* patch;   // [n_uavs, PatchesSize]; NULL: part of OBS
  float* state;    // [StateSize]
  int8_t* map;     // [MapSize]; NULL: part of STATE, or unused
  uint8_t* mask;   // [n_uavs, kActions]
  uint8_t* alive;  // [n_uavs]
};

// Adds the cells visible to active UAVs to the explored map; does nothing unless STATE contains it.
void Explore(const Model& model, Row* row);

// `next`: the outputs of the next row, whose memory is prefetched; NULL: none.
void Observe(const Model& model, const Row& row, const View& out, const View* next);

}  // namespace backplane::uav_grid
