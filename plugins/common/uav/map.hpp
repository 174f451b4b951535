// Maps of the grid, which depend only on the episode's seed and the options.
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

// Draws maps; reuses its scratch memory, so only the first map allocates. Not thread-safe.
class MapMaker {
 public:
  explicit MapMaker(const Options& options);
  // Draw n is number n of bp_rng with the episode's seed as key. A partial Fisher-Yates shuffle of all cells chooses the
  // obstacles, then start and target of each UAV. Every start must be 8-connected to its target and not closer to it than
  // goal_radius. Otherwise the attempt is repeated from the identity permutation with the next draws. Throws bp::Error
  // (BP_E_CONFIG) with the seed after 100 attempts.
  void Draw(uint64_t seed, Map* out);

 private:
  bool Suitable(const Map& map);
  // reached_ holds cells of one connected component: first one, then more after each Spread, until it returns false.
  void Restart(int32_t cell);
  bool Spread();

  Options options_;
  int64_t words_;                          // words of 64 cells per line of the grid
  std::vector<int32_t> identity_, cells_;  // [cells]
  std::vector<uint64_t> free_, reached_;   // [grid_size, words_]; bit x of line y
};

}  // namespace backplane::uav
