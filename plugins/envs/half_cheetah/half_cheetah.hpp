// The task HalfCheetah-v5 of Gymnasium: a planar two-legged body is paid for running along x. See README.md for the formulas.
#pragma once

#include "half_cheetah_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace half_cheetah {

// The options of plugin.cpp, under their names.
struct World : mj::World {
  explicit World(const bp::Config& c)
      : mj::World(c, {"half_cheetah.xml", ModelXml(), mjJNT_SLIDE}),
        forward_reward_weight(c.F64("forward_reward_weight")),
        ctrl_cost_weight(c.F64("ctrl_cost_weight")) {}

  const double forward_reward_weight, ctrl_cost_weight;
};

// The parts of one reward, signs as they are added. The task never ends by itself.
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
