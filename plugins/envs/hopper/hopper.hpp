// The task Hopper-v5 of Gymnasium: a planar body on one leg is paid for hopping along x. See README.md for the formulas.
#pragma once

#include <algorithm>
#include <limits>

#include "hopper_model.hpp"
#include "mujoco/runner.hpp"

namespace hopper {

struct Options : mj::WalkerOptions {
  Options() {
    healthy_z_min = 0.7, healthy_z_max = std::numeric_limits<double>::infinity();
    healthy_angle_min = -0.2, healthy_angle_max = 0.2;
  }
  void Check(const bp::Config& config) const {
    mj::WalkerOptions::Check(config);
    mj::RequireOrder("healthy_state_min", healthy_state_min, "healthy_state_max", healthy_state_max);
  }

  double healthy_state_min = -100, healthy_state_max = 100;
};

inline constexpr bp::OptionTable kOptions{
    mj::kWalkerOptions<Options>,
    bp::Opt("healthy_state_min", &Options::healthy_state_min,
            "Healthy positions after the first two, and healthy speeds, lie above this.",
            {.aliases = "healthy_state_range[0]"}),
    bp::Opt("healthy_state_max", &Options::healthy_state_max,
            "Healthy positions after the first two, and healthy speeds, lie below this.",
            {.aliases = "healthy_state_range[1]"}),
};

struct World : mj::WalkerWorld<Options> {
  explicit World(const Options& o) : WalkerWorld(o, "hopper.xml", kModelXml) {}
};

// One row.
class Hopper : public mj::PlanarWalker<Hopper, World> {
 public:
  using PlanarWalker::PlanarWalker;
  static constexpr auto& kOptions = hopper::kOptions;

  bool Healthy(const World& w) const {
    const auto inside = [&](double value) { return w.healthy_state_min < value && value < w.healthy_state_max; };
    const mjData& now = data();
    return std::all_of(now.qpos + 2, now.qpos + w.nq(), inside) && std::all_of(now.qvel, now.qvel + w.nv(), inside) &&
           PlanarWalker::Healthy(w);
  }
};

}  // namespace hopper
