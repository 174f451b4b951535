// Draws maps ahead on the CPU, for rows that restart by themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "uav/map.hpp"

namespace backplane::uav_grid_tensor {

// A map as a record of int32: [obstacles, start x, start y, target x, target y]. An obstacle is the index of a cell in a map
// with a border of `border` cells; the others are one number per UAV.
class MapRecords {
 public:
  explicit MapRecords(const uav::Options& options) : options_(options), border_(uav::Border(options)), maker_(options) {}
  int64_t size() const { return options_.n_obstacles + 4 * options_.n_uavs; }
  int64_t border() const { return border_; }
  int64_t side() const { return options_.grid_size + 2 * border_; }  // with border
  // out [size()]. Throws like uav::MapMaker.
  void Draw(uint64_t seed, int32_t* out);

 private:
  const uav::Options options_;
  const int64_t border_;
  uav::MapMaker maker_;
  uav::Map map_;
};

// A ring of `ahead` places per row: episode c of a row, counted from 0, has its map in place c % ahead. An episode lasts at
// least one step, so a full ring lasts for `ahead` steps. `ahead` does not affect the maps.
class MapQueue {
 public:
  MapQueue(const uav::Options& options, int64_t rows);
  int64_t ahead() const { return ahead_; }
  MapRecords& records() { return records_; }

  // The places filled since the last call.
  struct Fresh {
    std::vector<int64_t> places;   // row * ahead + place
    std::vector<int32_t> records;  // [places, size of a record]
  };
  // Sets the seeds of the next `per_row` episodes of each row, [rows, per_row]; the rows have `used` maps so far, [rows]. Keeps
  // maps whose seeds are unchanged. Throws like TopUp.
  const Fresh& NextSeeds(int64_t per_row, const uint64_t* seeds, const int64_t* used);
  // Refills used places. Throws bp::Error if a row has started more episodes than it has seeds.
  const Fresh& TopUp(const int64_t* used);

 private:
  struct Row {
    int64_t drawn = 0;  // episodes
    int64_t first = 0;  // episode of the first of seeds_
  };

  void CheckUsed(const int64_t* used) const;

  MapRecords records_;
  const int64_t ahead_;
  std::vector<Row> rows_;
  int64_t per_row_ = 0;
  std::vector<uint64_t> seeds_;     // [rows, per_row]
  std::vector<uint64_t> drawn_of_;  // [rows, ahead] seeds of the maps in the places
  Fresh fresh_;
};

}  // namespace backplane::uav_grid_tensor
