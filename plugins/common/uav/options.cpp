#include "uav/rules.hpp"

namespace backplane::uav {

void Options::Check(const bp::Config& c) const {
  if (n_obstacles > cells() - 2 * n_uavs) {
    throw bp::ConfigError(std::to_string(n_obstacles) + " obstacles, " + std::to_string(n_uavs) +
                          " starts and as many targets need " + std::to_string(n_obstacles + 2 * n_uavs) +
                          " cells, the grid has " + std::to_string(cells()) + " (n_obstacles: " + c.Where("n_obstacles") +
                          ", n_uavs: " + c.Where("n_uavs") + ", grid_size: " + c.Where("grid_size") + ")");
  }
  if (others == Others::kList && n_uavs > kMaxUavsInPairs) {
    throw bp::ConfigError("others: list has a block for each other UAV in OBS of each, for at most " +
                          std::to_string(kMaxUavsInPairs) + " UAVs; n_uavs is " + std::to_string(n_uavs) + " (" +
                          c.Where("n_uavs") + "): set others: patches, which do not grow with the UAVs");
  }
  if (sensor_radius >= grid_size) {
    throw bp::ConfigError("sensor_radius should be below grid_size (" + std::to_string(grid_size) + "), got " +
                          std::to_string(sensor_radius) + " (" + c.Where("sensor_radius") + ")");
  }
}

}  // namespace backplane::uav
