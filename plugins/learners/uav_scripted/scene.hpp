// A row of the grid in whole cells, read from its STATE.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/channel.h"

namespace backplane::uav_scripted {

struct Cell {
  int x, y;
  bool operator==(const Cell&) const = default;
};

struct Uav {
  Cell at, target;
  bool active;
};

struct Scene {
  int size;          // cells per side
  bool first;        // no move yet in this episode
  const float* map;  // [size, size]: 1 obstacle, 0 free, -1 unseen; NULL: STATE has none. Valid as long as the STATE.
  std::vector<Uav> uavs;
  const int8_t* map_bytes = nullptr;  // the same as a separate channel

  // Inside the grid and not a known obstacle.
  bool Open(Cell cell) const {
    return cell.x >= 0 && cell.y >= 0 && cell.x < size && cell.y < size && At(cell.y * size + cell.x) <= 0;
  }
  int At(int64_t cell) const { return map_bytes ? map_bytes[cell] : map ? static_cast<int>(map[cell]) : 0; }
};

// Locates the numbers of a Scene in STATE (uav/rules.hpp).
class SceneReader {
 public:
  // `map`: its own channel; NULL: it is in STATE, or there is none. `grid_size` 0: determined by the map. Throws bp::Error
  // (BP_E_UNSUPPORTED) if STATE does not have this grid's layout, or has no map and `needs_map`.
  SceneReader(const bp_channel& state, const bp_channel* map, uint32_t n_uavs, int64_t grid_size, bool needs_map);

  int64_t n_uavs() const { return n_uavs_; }
  Scene Read(const float* state, const int8_t* map) const;  // one row

 private:
  int64_t n_uavs_;
  int size_;
  bool has_map_;
};

}  // namespace backplane::uav_scripted
