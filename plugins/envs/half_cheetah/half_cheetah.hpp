// The task HalfCheetah-v5 of Gymnasium: a planar two-legged body is paid for running along x. See README.md for the formulas.
#pragma once

#include "half_cheetah_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace half_cheetah {

struct Options : mj::TaskOptions {
  double forward_reward_weight = 1, ctrl_cost_weight = 0.1;
};
inline constexpr bp::OptionTable kOptions{
    bp::Opt("forward_reward_weight", &Options::forward_reward_weight, "Reward per m/s along x."),
    bp::Opt("ctrl_cost_weight", &Options::ctrl_cost_weight, "[0,)",
            "Cost of the sum of squared actions; a higher cost makes the gait calmer."),
    bp::Opt("reset_noise_scale", &Options::reset_noise_scale, "[0,)",
            "Spread of the initial positions (uniform) and speeds (normal)."),
    bp::Opt("exclude_current_positions_from_observation", &Options::exclude_current_positions,
            "Leaves x of the root out of the observation."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"half_cheetah.xml", ModelXml(), mjJNT_SLIDE}) {}
};

// The terms of a reward, with the signs of the sum. The task never terminates.
struct Terms {
  double forward = 0, ctrl = 0;
  static constexpr bool terminated = false;
  double Reward() const { return forward - -ctrl; }
};

// One row.
class HalfCheetah : public mj::Task<HalfCheetah, World> {
 public:
  using Task::Task;
  using Terms = half_cheetah::Terms;
  static constexpr auto& kOptions = half_cheetah::kOptions;
  static constexpr bool kContactForces = false;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }

  mj::Point Place(const World&) const { return {.x = data().qpos[0]}; }

  Terms Judge(const World& w, const float* action) const {
    return {.forward = w.forward_reward_weight * velocity().x,
            .ctrl = -mj::SquaresOfAction(w.ctrl_cost_weight, action, w.nu())};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    const int skipped = w.exclude_current_positions ? 1 : 0;
    out(data().qpos + skipped, w.nq() - skipped);
    out(data().qvel, w.nv());
  }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    out("x_position", data().qpos[0]);
    out("x_velocity", velocity().x);
    out("reward_forward", terms.forward);
    out("reward_ctrl", terms.ctrl);
    out("ep/x_displacement", displacement().x);
  }
};

}  // namespace half_cheetah
