#include "model.hpp"

#include <algorithm>

namespace backplane::uav_grid {

Model::Model(const uav::Options& o)
    : options(o),
      border(uav::Border(o)),
      stride(o.grid_size + 2 * border),
      diagonal(uav::Distance(o.grid_size - 1, o.grid_size - 1)),
      scaled(uav::Quotients(o.grid_size - 1)),
      relative(uav::Quotients(o.sensor_radius)),
      free_map(stride * stride + kSpareCells, -1) {
  for (int64_t a = 0; a < uav::kActions; ++a) offset[a] = static_cast<int32_t>(uav::kMoves[a].dy * stride + uav::kMoves[a].dx);
  for (int64_t y = 0; y < o.grid_size; ++y) std::fill_n(&free_map[Index(0, y)], o.grid_size, int8_t{0});
}

}  // namespace backplane::uav_grid
