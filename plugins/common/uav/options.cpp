#include "uav/rules.hpp"

namespace backplane::uav {
namespace {

Collision CollisionOf(const std::string& name) {
  return name == "block" ? Collision::kBlock : name == "priority" ? Collision::kPriority : Collision::kCrash;
}

StateMap StateMapOf(const std::string& name) {
  return name == "none" ? StateMap::kNone : name == "explored" ? StateMap::kExplored : StateMap::kFull;
}

}  // namespace

Options::Options(const bp::Config& c)
    : grid_size(c.I64("grid_size")),
      n_uavs(c.I64("n_uavs")),
      n_obstacles(c.I64("n_obstacles")),
      max_steps(c.I64("max_steps")),
      sensor_radius(c.I64("sensor_radius")),
      goal_radius(c.F64("goal_radius")),
      collision(CollisionOf(c.Str("collision"))),
      state_map(StateMapOf(c.Str("state_map"))),
      others(c.Str("others") == "patches" ? Others::kPatches : Others::kList),
      mask_static(c.Bool("mask_static")),
      step(c.F64("step")),
      progress(c.F64("progress")),
      goal(c.F64("goal")),
      crash(c.F64("crash")),
      team(c.F64("team")),
      team_share(c.F64("team_share")) {
  if (n_obstacles > cells() - 2 * n_uavs) {
    throw bp::ConfigError(std::to_string(n_obstacles) + " obstacles, " + std::to_string(n_uavs) +
                          " starts and as many targets need " + std::to_string(n_obstacles + 2 * n_uavs) +
                          " cells, the grid has " + std::to_string(cells()) + " (n_obstacles: " + c.Where("n_obstacles") +
                          ", n_uavs: " + c.Where("n_uavs") + ", grid_size: " + c.Where("grid_size") + ")");
  }
  if (sensor_radius >= grid_size) {
    throw bp::ConfigError("sensor_radius should be below grid_size (" + std::to_string(grid_size) + "), got " +
                          std::to_string(sensor_radius) + " (" + c.Where("sensor_radius") + ")");
  }
}

}  // namespace backplane::uav
