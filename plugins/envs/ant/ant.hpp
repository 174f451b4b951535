// The task Ant-v5 of Gymnasium: a four-legged body is paid for walking along x. See README.md for the formulas.
#pragma once

#include <algorithm>

#include "ant_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace ant {

// The options of plugin.cpp, under their names.
struct World : mj::World {
  explicit World(const bp::Config& c)
      : mj::World(c, {"ant.xml", ModelXml(), mjJNT_FREE}),
        main_body(Body("main_body", c.Str("main_body"))),
        forward_reward_weight(c.F64("forward_reward_weight")),
        ctrl_cost_weight(c.F64("ctrl_cost_weight")),
        contact_cost_weight(c.F64("contact_cost_weight")),
        healthy_reward(c.F64("healthy_reward")),
        terminate_when_unhealthy(c.Bool("terminate_when_unhealthy")),
        healthy_z_min(c.F64("healthy_z_min")),
        healthy_z_max(c.F64("healthy_z_max")),
        contact_force_min(c.F64("contact_force_min")),
        contact_force_max(c.F64("contact_force_max")),
        include_cfrc_ext(c.Bool("include_cfrc_ext_in_observation")) {
    mj::RequireOrder(c, "healthy_z_min", "healthy_z_max");
    mj::RequireOrder(c, "contact_force_min", "contact_force_max");
  }

  const int main_body;
  const double forward_reward_weight, ctrl_cost_weight, contact_cost_weight, healthy_reward;
  const bool terminate_when_unhealthy;
  const double healthy_z_min, healthy_z_max, contact_force_min, contact_force_max;
  const bool include_cfrc_ext;
};

// The parts of one reward, signs as they are added.
struct Terms {
  double forward = 0, survive = 0, ctrl = 0, contact = 0;
  bool terminated = false;
  double Reward() const { return (forward + survive) - (-ctrl + -contact); }
};

// One row.
class Ant : public mj::Task<Ant, World> {
 public:
  using Task::Task;
  using Terms = ant::Terms;
  static constexpr bool kContactForces = true;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }

  mj::Point Place(const World& w) const { return {data().xpos[3 * w.main_body], data().xpos[3 * w.main_body + 1]}; }

  Terms Judge(const World& w, const float* action) const {
    const bool healthy = Healthy(w);
    return {
        .forward = velocity().x * w.forward_reward_weight,
        .survive = (healthy ? 1.0 : 0.0) * w.healthy_reward,
        .ctrl = -mj::SquaresOfAction(w.ctrl_cost_weight, action, w.nu()),
        .contact = -mj::Squares(w.contact_cost_weight, 6 * w.nbody(),
                                [&](int i) { return mj::Clip(data().cfrc_ext[i], w.contact_force_min, w.contact_force_max); }),
        .terminated = w.terminate_when_unhealthy && !healthy};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    const int skipped = w.exclude_current_positions ? 2 : 0;
    out(data().qpos + skipped, w.nq() - skipped);
    out(data().qvel, w.nv());
    if (w.include_cfrc_ext)  // without the world body
      out(data().cfrc_ext + 6, 6 * (w.nbody() - 1),
          [&](double force) { return mj::Clip(force, w.contact_force_min, w.contact_force_max); });
  }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    const double x = data().qpos[0], y = data().qpos[1];
    out("x_position", x);
    out("y_position", y);
    out("distance_from_origin", mj::Norm(x, y));
    out("x_velocity", velocity().x);
    out("y_velocity", velocity().y);
    out("reward_forward", terms.forward);
    out("reward_survive", terms.survive);
    out("reward_ctrl", terms.ctrl);
    out("reward_contact", terms.contact);
    out("ep/x_displacement", displacement().x);
    out("ep/distance", std::hypot(displacement().x, displacement().y));
  }

 private:
  bool Healthy(const World& w) const {
    const auto finite = [](double value) { return std::isfinite(value); };
    const double z = data().qpos[2];
    return std::all_of(data().qpos, data().qpos + w.nq(), finite) && std::all_of(data().qvel, data().qvel + w.nv(), finite) &&
           w.healthy_z_min <= z && z <= w.healthy_z_max;
  }
};

}  // namespace ant
