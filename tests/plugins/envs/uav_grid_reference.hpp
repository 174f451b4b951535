// A second implementation of the grid, written for readability: rules and channels follow their definitions.
#pragma once

#include <cstdint>
#include <vector>

#include "uav/map.hpp"

namespace backplane::uav_grid {

class Reference {
 public:
  explicit Reference(const uav::Options& options) : o(options), maker_(options) {}

  void Reset(uint64_t seed);
  void Step(const int32_t* action);

  std::vector<float> Obs() const;         // [n_uavs * ObsSize]
  std::vector<float> State() const;       // [StateSize]
  std::vector<uint8_t> Mask() const;      // [n_uavs * 9]
  std::vector<uint8_t> Alive() const;     // [n_uavs]
  std::vector<float> Statistics() const;  // success, crash, timeout, all arrived, path length, conflicts (3)
  bool over() const;

  std::vector<float> reward;   // [n_uavs], of the last step
  std::vector<uint8_t> ended;  // [n_uavs], in the last step

 private:
  struct Cell {
    int64_t x, y;
    bool operator==(const Cell&) const = default;
  };
  struct One {
    Cell at, target, last;
    bool active, arrived;
  };
  int8_t Ground(Cell cell) const;  // -1 outside, 1 obstacle, 0 free
  void Look();
  std::vector<Cell> Resolve(std::vector<Cell> wanted, std::vector<int>* cause) const;

  uav::Options o;
  uav::MapMaker maker_;
  std::vector<One> all_;
  std::vector<int8_t> ground_, seen_;
  int64_t t_ = 0, walked_ = 0, conflicts_[3] = {};
};

}  // namespace backplane::uav_grid
