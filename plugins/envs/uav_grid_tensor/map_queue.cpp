#include "map_queue.hpp"

#include <algorithm>

namespace backplane::uav_grid_tensor {
namespace {

// Small enough for any number of rows, large enough that the number of used maps is rarely read from the device.
constexpr int64_t kQueueBytes = 16 << 20, kLeast = 2, kMost = 16;

}  // namespace

void MapRecords::Draw(uint64_t seed, int32_t* out) {
  maker_.Draw(seed, &map_);
  const auto grid = static_cast<int32_t>(options_.grid_size), border = static_cast<int32_t>(border_);
  for (const int32_t cell : map_.obstacles)
    *out++ = (cell / grid + border) * static_cast<int32_t>(side()) + cell % grid + border;
  for (const auto& cells : {map_.start, map_.target}) {
    for (const int32_t cell : cells) *out++ = cell % grid;
    for (const int32_t cell : cells) *out++ = cell / grid;
  }
}

MapQueue::MapQueue(const uav::Options& options, int64_t rows)
    : records_(options),
      ahead_(std::clamp(kQueueBytes / (rows * records_.size() * int64_t{sizeof(int32_t)}), kLeast, kMost)),
      rows_(rows),
      drawn_of_(rows * ahead_) {}

void MapQueue::CheckUsed(const int64_t* used) const {
  for (size_t r = 0; r < rows_.size(); ++r)
    if (used[r] > rows_[r].drawn)
      throw bp::Error(BP_E_INTERNAL, "row " + std::to_string(r) + " has started " + std::to_string(used[r] - rows_[r].drawn) +
                                         " more episodes than it was given seeds for");
}

const MapQueue::Fresh& MapQueue::NextSeeds(int64_t per_row, const uint64_t* seeds, const int64_t* used) {
  CheckUsed(used);
  per_row_ = per_row;
  seeds_.assign(seeds, seeds + rows_.size() * per_row);
  for (size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    row.first = used[r];
    int64_t kept = 0;
    while (row.first + kept < row.drawn && kept < per_row &&
           drawn_of_[r * ahead_ + (row.first + kept) % ahead_] == seeds_[r * per_row + kept])
      ++kept;
    row.drawn = row.first + kept;
  }
  return TopUp(used);
}

const MapQueue::Fresh& MapQueue::TopUp(const int64_t* used) {
  CheckUsed(used);
  fresh_.places.clear();
  fresh_.records.clear();
  for (size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    for (; row.drawn < used[r] + ahead_ && row.drawn - row.first < per_row_; ++row.drawn) {
      const uint64_t seed = seeds_[r * per_row_ + (row.drawn - row.first)];
      const auto place = static_cast<int64_t>(r) * ahead_ + row.drawn % ahead_;
      fresh_.records.resize(fresh_.records.size() + records_.size());
      records_.Draw(seed, fresh_.records.data() + fresh_.records.size() - records_.size());
      fresh_.places.push_back(place);
      drawn_of_[place] = seed;
    }
  }
  return fresh_;
}

}  // namespace backplane::uav_grid_tensor
