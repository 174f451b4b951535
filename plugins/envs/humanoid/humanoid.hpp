// The task Humanoid-v5 of Gymnasium: a two-legged body is paid for walking along x upright. See README.md for the formulas.
#pragma once

#include "humanoid_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace humanoid {

// The options of plugin.cpp, under their names.
struct World : mj::World {
  explicit World(const bp::Config& c)
      : mj::World(c, {"humanoid.xml", ModelXml(), mjJNT_FREE}),
        mass(mj::Sum<double>(0, nbody(), [this](int i) { return model()->body_mass[i]; })),
        forward_reward_weight(c.F64("forward_reward_weight")),
        ctrl_cost_weight(c.F64("ctrl_cost_weight")),
        contact_cost_weight(c.F64("contact_cost_weight")),
        contact_cost_min(c.F64("contact_cost_min")),
        contact_cost_max(c.F64("contact_cost_max")),
        healthy_reward(c.F64("healthy_reward")),
        terminate_when_unhealthy(c.Bool("terminate_when_unhealthy")),
        healthy_z_min(c.F64("healthy_z_min")),
        healthy_z_max(c.F64("healthy_z_max")),
        include_cinert(c.Bool("include_cinert_in_observation")),
        include_cvel(c.Bool("include_cvel_in_observation")),
        include_qfrc_actuator(c.Bool("include_qfrc_actuator_in_observation")),
        include_cfrc_ext(c.Bool("include_cfrc_ext_in_observation")) {
    Require(model()->ntendon <= 25, "at most 25 tendons, whose lengths and velocities are told",
            std::to_string(model()->ntendon));
    mj::RequireOrder(c, "contact_cost_min", "contact_cost_max");
    mj::RequireOrder(c, "healthy_z_min", "healthy_z_max");
  }

  const double mass;  // kg
  const double forward_reward_weight, ctrl_cost_weight, contact_cost_weight, contact_cost_min, contact_cost_max, healthy_reward;
  const bool terminate_when_unhealthy;
  const double healthy_z_min, healthy_z_max;
  const bool include_cinert, include_cvel, include_qfrc_actuator, include_cfrc_ext;
};

// The parts of one reward, signs as they are added.
struct Terms {
  double forward = 0, survive = 0, ctrl = 0, contact = 0;
  bool terminated = false;
  double Reward() const { return (forward + survive) - (-ctrl + -contact); }
};

// One row.
class Humanoid : public mj::Task<Humanoid, World> {
 public:
  using Task::Task;
  using Terms = humanoid::Terms;
  static constexpr bool kContactForces = true;

  static double SpeedNoise(bp::Rng& rng) { return rng.Range(-1, 1); }

  // The centre of mass: body after body in numerator, as np.einsum adds.
  mj::Point Place(const World& w) const {
    double x = 0, y = 0;
    for (int i = 0; i < w.nbody(); ++i) {
      x += w.model()->body_mass[i] * data().xipos[3 * i];
      y += w.model()->body_mass[i] * data().xipos[3 * i + 1];
    }
    return {x / w.mass, y / w.mass};
  }

  // The control cost is that of data.ctrl and hence float64; contact forces are not clipped, their cost is.
  Terms Judge(const World& w, const float*) const {
    const bool healthy = w.healthy_z_min < data().qpos[2] && data().qpos[2] < w.healthy_z_max;
    const double contact = mj::Squares(w.contact_cost_weight, 6 * w.nbody(), [&](int i) { return data().cfrc_ext[i]; });
    return {.forward = w.forward_reward_weight * velocity().x,
            .survive = (healthy ? 1.0 : 0.0) * w.healthy_reward,
            .ctrl = -mj::Squares(w.ctrl_cost_weight, w.nu(), [&](int i) { return data().ctrl[i]; }),
            .contact = -mj::Clip(contact, w.contact_cost_min, w.contact_cost_max),
            .terminated = w.terminate_when_unhealthy && !healthy};
  }

  // Rows of the world body and forces on the root are left out.
  template <class Out>
  void Observe(const World& w, const Out& out) const {
    const int skipped = w.exclude_current_positions ? 2 : 0, bodies = w.nbody() - 1;
    out(data().qpos + skipped, w.nq() - skipped);
    out(data().qvel, w.nv());
    if (w.include_cinert) out(data().cinert + 10, 10 * bodies);
    if (w.include_cvel) out(data().cvel + 6, 6 * bodies);
    if (w.include_qfrc_actuator) out(data().qfrc_actuator + 6, w.nv() - 6);
    if (w.include_cfrc_ext) out(data().cfrc_ext + 6, 6 * bodies);
  }

  template <class Out>
  void Inform(const World& w, const Terms& terms, const Out& out) const {
    const double x = data().qpos[0], y = data().qpos[1];
    out("x_position", x);
    out("y_position", y);
    out("tendon_length", data().ten_length, w.model()->ntendon);
    out("tendon_velocity", data().ten_velocity, w.model()->ntendon);
    out("distance_from_origin", mj::Norm(x, y));
    out("x_velocity", velocity().x);
    out("y_velocity", velocity().y);
    out("reward_survive", terms.survive);
    out("reward_forward", terms.forward);
    out("reward_ctrl", terms.ctrl);
    out("reward_contact", terms.contact);
    out("ep/x_displacement", displacement().x);
    out("ep/distance", std::hypot(displacement().x, displacement().y));
  }
};

}  // namespace humanoid
