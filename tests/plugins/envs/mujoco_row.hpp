// One row of a MuJoCo task, computed by its own sources in float64 with the options of its plugin's table.
#pragma once

#include <mujoco/mujoco.h>

#include <cmath>
#include <string>
#include <vector>

#include "backplane/plugin.hpp"
#include "places.hpp"
#include "support/env_harness.hpp"

namespace harness {

// The options of a plugin file's table with some replaced, parsed as a plugin does.
class Options {
 public:
  Options(const std::string& file, const nlohmann::json& given) : config_(*Load(file)->descriptor(0), given) {}
  bp::Config get() const { return bp::Config(config_.get()); }

 private:
  FakeConfig config_;
};

// `Row` is a task's class, e.g. ant::Ant.
template <class Row>
struct Single {
  explicit Single(const std::string& name, const nlohmann::json& given = nlohmann::json::object())
      : options(BACKPLANE_PLUGIN_DIR "/env_" + name + ".so", given), world(Row::kOptions.Read(options.get())), row(world) {}

  // Starts without noise in the model's pose, which `fill` (qpos, qvel) may change.
  template <class Fill>
  void Start(const Fill& fill) {
    row.Restart(world, fill);
  }
  void Start() {
    Start([](double*, double*) {});
  }
  // One step with the goldens' actions, t from 1; returns the reward.
  double Advance(double amplitude, int t) {
    std::vector<float> action(world.nu());
    for (size_t i = 0; i < action.size(); ++i)
      action[i] = static_cast<float>(amplitude * std::sin(0.3 * (t - 1) + static_cast<double>(i)));
    return row.Advance(world, action.data()).Reward();
  }
  double Return(double amplitude, int steps) {
    double sum = 0;
    for (int t = 1; t <= steps; ++t) sum += Advance(amplitude, t);
    return sum;
  }
  int64_t ObsSize() const { return Row::Spec(world).channels[0].shape[0]; }
  const mjModel& model() const { return *world.model(); }
  const mjData& data() const { return row.data(); }

  Options options;
  typename Row::Model world;
  Row row;
};

inline double SumOfSizes(const double* values, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::abs(values[i]);
  return sum;
}

// Puts every limited joint in the middle of its range: no limit and, in the air, no contact acts.
inline void AtMidRange(const mjModel& m, double* qpos) {
  for (int i = 0; i < m.njnt; ++i)
    if (m.jnt_limited[i]) qpos[m.jnt_qposadr[i]] = (m.jnt_range[2 * i] + m.jnt_range[2 * i + 1]) / 2;
}

// Expected values of whole trajectories belong to one MuJoCo version.
#define SKIP_UNLESS_MUJOCO_4_0() \
  if (std::string(mj_versionString()).substr(0, 4) != "4.0.") GTEST_SKIP() << "no figures for MuJoCo " << mj_versionString()

}  // namespace harness
