// A row of the grid as its STATE shows it, in whole cells.
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
  int size;          // cells along each side
  bool first;        // nothing has moved yet in this episode
  const float* map;  // [size, size]: 1 obstacle, 0 free, -1 not seen yet; NULL: STATE has none. Valid as long as the STATE.
  std::vector<Uav> uavs;
  const int8_t* map_bytes = nullptr;  // the same where it is a channel of its own

  // Inside the grid, and no obstacle as far as the map tells.
  bool Open(Cell cell) const {
    return cell.x >= 0 && cell.y >= 0 && cell.x < size && cell.y < size && At(cell.y * size + cell.x) <= 0;
  }
  int At(int64_t cell) const { return map_bytes ? map_bytes[cell] : map ? static_cast<int>(map[cell]) : 0; }
};

// Where the numbers of a Scene stand in STATE (uav/rules.hpp).
class SceneReader {
 public:
  // `map`: its own channel; NULL: it is in STATE, or there is none. `grid_size` 0: as the map tells. Throws bp::Error
  // (BP_E_UNSUPPORTED) if STATE is not laid out as this grid's, or has no map and `needs_map`.
  SceneReader(const bp_channel& state, const bp_channel* map, uint32_t n_uavs, int64_t grid_size, bool needs_map);

  int64_t n_uavs() const { return n_uavs_; }
  Scene Read(const float* state, const int8_t* map) const;  // of one row

 private:
  int64_t n_uavs_;
  int size_;
  bool has_map_;
};

}  // namespace backplane::uav_scripted
