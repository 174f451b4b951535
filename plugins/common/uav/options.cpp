#include "uav/rules.hpp"

namespace backplane::uav {

void Options::Check(const bp::Config& c) const {
  if (n_obstacles > cells() - 2 * n_uavs) {
    throw bp::ConfigError("expected " + std::to_string(n_obstacles + 2 * n_uavs) + " cells or more, for " +
                          std::to_string(n_obstacles) + " obstacles and " + std::to_string(n_uavs) +
                          " starts and targets each, got " + std::to_string(cells()) +
                          " (n_obstacles: " + c.Where("n_obstacles") + ", n_uavs: " + c.Where("n_uavs") +
                          ", grid_size: " + c.Where("grid_size") + ")");
  }
  if (others == Others::kList && n_uavs > kMaxUavsInPairs) {
    throw bp::ConfigError("n_uavs: expected at most " + std::to_string(kMaxUavsInPairs) + " with others: list, got " +
                          std::to_string(n_uavs) + " (" + c.Where("n_uavs") +
                          "); set others: patches, whose size does not grow with n_uavs");
  }
  if (sensor_radius >= grid_size) {
    throw bp::ConfigError("sensor_radius: expected less than grid_size (" + std::to_string(grid_size) + "), got " +
                          std::to_string(sensor_radius) + " (" + c.Where("sensor_radius") + ")");
  }
}

}  // namespace backplane::uav
