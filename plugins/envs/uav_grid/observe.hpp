// What a row shows: OBS, STATE, ACTION_MASK and ALIVE, laid out as uav/rules.hpp says.
#pragma once

#include "row.hpp"

namespace backplane::uav_grid {

// Of one row; every element is written.
struct View {
  float* obs;      // [n_uavs, ObsSize]
  int8_t* patch;   // [n_uavs, PatchesSize]; NULL: OBS holds them
  float* state;    // [StateSize]
  int8_t* map;     // [MapSize]; NULL: STATE holds it, or there is none
  uint8_t* mask;   // [n_uavs, kActions]
  uint8_t* alive;  // [n_uavs]
};

// Adds what the active UAVs see to the explored map; nothing where STATE does not hold it.
void Explore(const Model& model, Row* row);

// `next`: where the next row will be shown, whose memory is fetched meanwhile; NULL: none.
void Observe(const Model& model, const Row& row, const View& out, const View* next);

}  // namespace backplane::uav_grid
