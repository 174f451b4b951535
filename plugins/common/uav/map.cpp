#include "uav/map.hpp"

#include <algorithm>
#include <numeric>

#include "backplane/rng.h"

namespace backplane::uav {
namespace {

constexpr int kAttempts = 100;

bool Has(const std::vector<uint64_t>& bits, int64_t words, int64_t x, int64_t y) {
  return bits[y * words + x / 64] >> (x % 64) & 1;
}

}  // namespace

MapMaker::MapMaker(const Options& options)
    : options_(options),
      words_((options.grid_size + 63) / 64),
      identity_(options.cells()),
      cells_(options.cells()),
      free_(options.grid_size * words_),
      reached_(options.grid_size * words_) {
  std::iota(identity_.begin(), identity_.end(), 0);
}

void MapMaker::Draw(uint64_t seed, Map* out) {
  const int64_t n_obstacles = options_.n_obstacles, n_uavs = options_.n_uavs, picks = n_obstacles + 2 * n_uavs;
  const auto n_cells = static_cast<uint64_t>(options_.cells());
  out->obstacles.resize(n_obstacles), out->start.resize(n_uavs), out->target.resize(n_uavs);
  bp_rng rng{seed, 0};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::copy(identity_.begin(), identity_.end(), cells_.begin());
    for (int64_t i = 0; i < picks; ++i) std::swap(cells_[i], cells_[i + bp_rng_below(&rng, n_cells - i)]);
    std::copy_n(cells_.begin(), n_obstacles, out->obstacles.begin());
    std::sort(out->obstacles.begin(), out->obstacles.end());
    for (int64_t i = 0; i < n_uavs; ++i) {
      out->start[i] = cells_[n_obstacles + 2 * i];
      out->target[i] = cells_[n_obstacles + 2 * i + 1];
    }
    if (Suitable(*out)) return;
  }
  throw bp::ConfigError(
      "unsolvable_map: " + std::to_string(kAttempts) + " maps of the episode with seed " + std::to_string(seed) +
      " have a UAV that starts at its target or has no path to it; use fewer obstacles, a larger grid or a smaller "
      "goal_radius");
}

bool MapMaker::Suitable(const Map& map) {
  const int64_t side = options_.grid_size;
  for (int64_t i = 0; i < options_.n_uavs; ++i) {
    if (Distance(map.target[i] % side - map.start[i] % side, map.target[i] / side - map.start[i] / side) < options_.goal_radius)
      return false;
  }
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t w = 0; w < words_; ++w) {
      const int64_t left = side - 64 * w;
      free_[y * words_ + w] = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    }
  }
  for (const int32_t cell : map.obstacles)
    free_[cell / side * words_ + cell % side / 64] &= ~(uint64_t{1} << (cell % side % 64));
  const auto has = [&](int32_t cell) { return Has(reached_, words_, cell % side, cell / side); };
  Restart(map.start[0]);
  for (int64_t i = 0; i < options_.n_uavs; ++i) {
    // Most maps are connected, so the first pass suffices.
    while (!has(map.start[i]) || !has(map.target[i])) {
      if (Spread()) continue;
      if (has(map.start[i]) || has(map.target[i])) return false;
      Restart(map.start[i]);
    }
  }
  return true;
}

void MapMaker::Restart(int32_t cell) {
  const int64_t side = options_.grid_size;
  std::fill(reached_.begin(), reached_.end(), 0);
  reached_[cell / side * words_ + cell % side / 64] = uint64_t{1} << (cell % side % 64);
}

// Sweeps down and up: each line spreads its own reached cells and those reached in the line before.
bool MapMaker::Spread() {
  const int64_t side = options_.grid_size;
  const auto spread = [this](const uint64_t* line, int64_t w) {  // the line's reached cells with left and right neighbours
    const uint64_t before = w > 0 ? line[w - 1] >> 63 : 0, after = w + 1 < words_ ? line[w + 1] << 63 : 0;
    return line[w] | line[w] << 1 | line[w] >> 1 | before | after;
  };
  const auto grow = [&](int64_t y, int64_t neighbour) {
    uint64_t* line = &reached_[y * words_];
    const uint64_t* open = &free_[y * words_];
    bool any = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (int64_t w = 0; w < words_; ++w) {
        uint64_t next = spread(line, w);
        if (neighbour >= 0 && neighbour < side) next |= spread(&reached_[neighbour * words_], w);
        next &= open[w];
        changed |= next != line[w];
        line[w] = next;
      }
      any |= changed;
    }
    return any;
  };
  bool changed = false;
  for (int64_t y = 0; y < side; ++y) changed |= grow(y, y - 1);
  for (int64_t y = side; y-- > 0;) changed |= grow(y, y + 1);
  return changed;
}

}  // namespace backplane::uav
