// Shared by all rows of the grid: the options and tables derived from them.
#pragma once

#include <cstdint>
#include <vector>

#include "uav/rules.hpp"

namespace backplane::uav_grid {

// Maps have a border, so that the patch around any cell is a rectangle: [side + 2 * border] lines of `stride` numbers, -1 in
// the border, 1 obstacle, 0 free. A number is one byte, because float maps of many UAVs would exceed the caches.
struct Model {
  explicit Model(const uav::Options& options);

  static constexpr int64_t kSpareCells = 16;  // behind each map, because lines are read in pieces of up to 16 cells

  // Index of cell (x, y) in a map with its border.
  int64_t Index(int64_t x, int64_t y) const { return (y + border) * stride + border + x; }
  bool explores() const { return options.state_map == uav::StateMap::kExplored; }
  float Scaled(int64_t k) const { return scaled[k + options.grid_size - 1]; }
  float Relative(int64_t k) const { return relative[k + options.sensor_radius]; }

  const uav::Options options;
  const int64_t border, stride;
  int32_t offset[uav::kActions];  // index offset of a move in a map with its border
  double diagonal;                // cells
  std::vector<float> scaled;      // k / (side - 1) for k = -(side - 1) .. side - 1
  std::vector<float> relative;    // k / sensor_radius for k = -sensor_radius .. sensor_radius
  std::vector<int8_t> free_map;   // without obstacles
};

}  // namespace backplane::uav_grid
