// Maps of the grid: a function of the episode's seed and the options alone.
#pragma once

#include <cstdint>
#include <vector>

#include "uav/rules.hpp"

namespace backplane::uav {

// Cells are y * grid_size + x.
struct Map {
  std::vector<int32_t> obstacles;      // [n_obstacles], ascending
  std::vector<int32_t> start, target;  // [n_uavs]
};

// Draws maps; keeps its scratch from one to the next, so that after the first nothing is allocated. For one thread at a time.
class MapMaker {
 public:
  explicit MapMaker(const Options& options);
  // Draw n is that of bp_rng with the episode's seed as key. A partial Fisher-Yates shuffle over all cells: obstacles first,
  // then start and target of each UAV. An attempt with a start closer to its target than goal_radius, or without an 8-connected
  // way between them, is drawn anew from the identity permutation while the draws go on. Throws bp::Error (BP_E_CONFIG) naming
  // the seed after 100 such attempts.
  void Draw(uint64_t seed, Map* out);

 private:
  bool Suitable(const Map& map);
  // reached_ holds cells of one piece of the map: at first one, with each Spread more, until that returns false.
  void Restart(int32_t cell);
  bool Spread();

  Options options_;
  int64_t words_;                          // of 64 cells for one line of the grid
  std::vector<int32_t> identity_, cells_;  // [cells]
  std::vector<uint64_t> free_, reached_;   // [grid_size, words_]; bit x of line y
};

}  // namespace backplane::uav
