// The task HumanoidStandup-v5 of Gymnasium: a lying body with arms and legs is paid for its height. See README.md for the
// formulas.
#pragma once

#include "mujoco/humanoid.hpp"

namespace humanoid_standup {

struct Options : mj::HumanoidOptions {
  void Check(const bp::Config&) const {
    mj::RequireOrder("impact_cost_min", impact_cost_min, "impact_cost_max", impact_cost_max);
  }

  double ctrl_cost_weight = 0.1, impact_cost_weight = 5e-7, impact_cost_min = 0, impact_cost_max = 10;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("ctrl_cost_weight", &Options::ctrl_cost_weight, "[0,)",
            "Cost of the sum of squared controls; a higher cost makes the movement calmer."),
    bp::Opt("impact_cost_weight", &Options::impact_cost_weight, "[0,)",
            "Cost of the sum of squared contact forces, before the clip."),
    bp::Opt("impact_cost_min", &Options::impact_cost_min, "Lower limit of the impact cost; 0: no limit.",
            {.aliases = "impact_cost_range[0]"}),
    bp::Opt("impact_cost_max", &Options::impact_cost_max,
            "Upper limit of the impact cost, so that one hard hit does not decide an episode.",
            {.aliases = "impact_cost_range[1]"}),
    mj::kHumanoidOptions,
};

struct World : mj::HumanoidWorld<Options> {
  explicit World(const Options& o) : HumanoidWorld(o, "humanoid_standup.xml", mj::Pose::kLying) {}
};

// The terms of the reward, with the signs of the sum. The task never terminates.
struct Terms {
  double up = 0, ctrl = 0, impact = 0;
  static constexpr bool terminated = false;
  double Reward() const { return up - -ctrl - -impact + 1; }
};

// One row.
class HumanoidStandup : public mj::HumanoidTask<HumanoidStandup, World> {
 public:
  using HumanoidTask::HumanoidTask;
  using Terms = humanoid_standup::Terms;
  static constexpr auto& kOptions = humanoid_standup::kOptions;
  static constexpr mj::View kView{.zoom = 0.8, .height = 0.5};

  // The height is divided by the timestep of the simulation, as if it had been reached in one.
  Terms Judge(const World& w, const float*) const {
    return {.up = data().qpos[2] / w.model()->opt.timestep,
            .ctrl = -SquaresOfControls(w, w.ctrl_cost_weight),
            .impact = -mj::Clip(SquaresOfContacts(w, w.impact_cost_weight), w.impact_cost_min, w.impact_cost_max)};
  }

  template <class Out>
  void Inform(const World& w, const Terms& terms, const Out& out) const {
    const mjtNum* const qpos = data().qpos;
    out("x_position", qpos[0]);
    out("y_position", qpos[1]);
    out("z_distance_from_origin", qpos[2] - w.model()->qpos0[2]);
    InformOfTendons(w, out);
    out("reward_linup", terms.up);
    out("reward_quadctrl", terms.ctrl);
    out("reward_impact", terms.impact);
    out("ep/height", qpos[2]);
  }

  std::string Caption(const World&) const {
    std::string text;
    bp::Print(&text, "%.2f s, %.2f m high", data().time, data().qpos[2]);
    return text;
  }
};

}  // namespace humanoid_standup
