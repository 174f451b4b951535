// The task Swimmer-v5 of Gymnasium: a chain of three links in a fluid is paid for swimming along x. See README.md for the
// formulas.
#pragma once

#include "mujoco/runner.hpp"
#include "swimmer_model.hpp"

namespace swimmer {

struct Options : mj::RunnerOptions {
  Options() { frame_skip = 4, ctrl_cost_weight = 0.0001; }
};

inline constexpr bp::OptionTable kOptions{
    mj::kForwardReward,
    mj::kCtrlCost,
    bp::Opt<Options, double>("reset_noise_scale", &Options::reset_noise_scale, "[0,)",
                             "Spread of the initial positions and speeds (both uniform)."),
    bp::Opt("exclude_current_positions_from_observation", &mj::TaskOptions::exclude_current_positions,
            "Leaves x and y of the root out of the observation."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"swimmer.xml", kModelXml, mjJNT_SLIDE}) {
    Require(nq() >= 2, "joints along x and y first", std::to_string(nq()) + " position");
  }
};

// One row.
class Swimmer : public mj::Runner<Swimmer, World, 2> {
 public:
  using Runner::Runner;
  static constexpr auto& kOptions = swimmer::kOptions;
  static constexpr mj::View kView{.turn = 0, .tilt = 1.1, .zoom = 0.8};

  mj::Point Place(const World&) const { return {data().qpos[0], data().qpos[1]}; }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    const double x = data().qpos[0], y = data().qpos[1];
    out("x_position", x);
    out("y_position", y);
    out("distance_from_origin", mj::Norm(x, y));
    out("x_velocity", velocity().x);
    out("y_velocity", velocity().y);
    out("reward_forward", terms.forward);
    out("reward_ctrl", terms.ctrl);
    out("ep/x_displacement", displacement().x);
    out("ep/distance", std::hypot(displacement().x, displacement().y));
  }
};

}  // namespace swimmer
