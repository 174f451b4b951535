#include "scene.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "backplane/learner.hpp"
#include "uav/rules.hpp"

namespace backplane::uav_scripted {

SceneReader::SceneReader(const bp_channel& state, const bp_channel* map, uint32_t n_uavs, int64_t grid_size, bool needs_map)
    : n_uavs_(n_uavs) {
  const int64_t elements = bp::ElementCount(state) + (map ? bp::ElementCount(*map) : 0),
                cells = elements - uav::kStatePerUav * n_uavs_ - 1;
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(std::max<int64_t>(cells, 0)))));
  if (state.scope != BP_SCOPE_ROW || !bp::SameDtype(state.dtype, bp::DtypeOf<float>()) || cells < 0 || side * side != cells) {
    throw bp::Unsupported("expected the STATE of a multi-UAV grid: 8 numbers for each of " + std::to_string(n_uavs_) +
                          " UAVs, the time, and a square map or none; got " + std::to_string(elements) + " numbers");
  }
  has_map_ = cells > 0;
  if (!has_map_ && needs_map)
    throw bp::Unsupported("policy: planner: expected the map in STATE, got none; set env.options.state_map: full");
  if (!has_map_ && grid_size == 0)
    throw bp::Unsupported("STATE contains no map, so the size of the grid is unknown; set grid_size");
  if (has_map_ && grid_size != 0 && grid_size != side) {
    throw bp::Unsupported("grid_size: expected " + std::to_string(side) + ", the width of the map in STATE, got " +
                          std::to_string(grid_size));
  }
  size_ = static_cast<int>(has_map_ ? side : grid_size);
}

Scene SceneReader::Read(const float* state, const int8_t* map) const {
  const float* const rest = state + uav::kStatePerUav * n_uavs_;
  Scene scene{size_, *rest == 0, has_map_ && !map ? rest + 1 : nullptr, {}, map};
  scene.uavs.reserve(static_cast<size_t>(n_uavs_));
  const auto whole = [this](float scaled) { return static_cast<int>(std::lround(scaled * static_cast<double>(size_ - 1))); };
  for (const float* s = state; s != rest; s += uav::kStatePerUav)
    scene.uavs.push_back({{whole(s[0]), whole(s[1])}, {whole(s[4]), whole(s[5])}, s[6] != 0});
  return scene;
}

}  // namespace backplane::uav_scripted
