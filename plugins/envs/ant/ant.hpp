// The task Ant-v5 of Gymnasium: a four-legged body is paid for walking along x. See README.md for the formulas.
#pragma once

#include <algorithm>

#include "ant_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace ant {

struct Options : mj::TaskOptions {
  void Check(const bp::Config&) const {
    mj::RequireOrder("healthy_z_min", healthy_z_min, "healthy_z_max", healthy_z_max);
    mj::RequireOrder("contact_force_min", contact_force_min, "contact_force_max", contact_force_max);
  }

  double forward_reward_weight = 1, ctrl_cost_weight = 0.5, contact_cost_weight = 0.0005, healthy_reward = 1;
  std::string main_body = "1";
  bool terminate_when_unhealthy = true;
  double healthy_z_min = 0.2, healthy_z_max = 1, contact_force_min = -1, contact_force_max = 1;
  bool include_cfrc_ext = true;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("forward_reward_weight", &Options::forward_reward_weight, "Reward per m/s of the main body along x."),
    bp::Opt("ctrl_cost_weight", &Options::ctrl_cost_weight, "[0,)",
            "Cost of the sum of squared actions; a higher cost makes the gait calmer."),
    bp::Opt("contact_cost_weight", &Options::contact_cost_weight, "[0,)",
            "Cost of the sum of squared, clipped contact forces."),
    bp::Opt("healthy_reward", &Options::healthy_reward, "Reward of every step with a healthy body."),
    bp::Opt("main_body", &Options::main_body, "Body whose speed is rewarded, by name or number; 1 is the torso."),
    bp::Opt("terminate_when_unhealthy", &Options::terminate_when_unhealthy, "Ends the episode if the body is not healthy."),
    bp::Opt("healthy_z_min", &Options::healthy_z_min, "Lowest healthy height of the root.",
            {.unit = "m", .aliases = "healthy_z_range[0]"}),
    bp::Opt("healthy_z_max", &Options::healthy_z_max, "Largest healthy height of the root.",
            {.unit = "m", .aliases = "healthy_z_range[1]"}),
    bp::Opt("contact_force_min", &Options::contact_force_min, "Lower limit of contact forces, in cost and observation.",
            {.unit = "N", .aliases = "contact_force_range[0]"}),
    bp::Opt("contact_force_max", &Options::contact_force_max, "Upper limit of contact forces, in cost and observation.",
            {.unit = "N", .aliases = "contact_force_range[1]"}),
    bp::Opt("reset_noise_scale", &Options::reset_noise_scale, "[0,)",
            "Spread of the initial positions (uniform) and speeds (normal)."),
    bp::Opt("exclude_current_positions_from_observation", &Options::exclude_current_positions,
            "Leaves x and y of the root out of the observation."),
    bp::Opt("include_cfrc_ext_in_observation", &Options::include_cfrc_ext,
            "Observe the contact forces: 105 numbers instead of 27."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o)
      : mj::World<Options>(o, {"ant.xml", ModelXml(), mjJNT_FREE}), main_body_id(Body("main_body", o.main_body)) {}

  const int main_body_id;
};

// One row.
class Ant : public mj::Task<Ant, World> {
 public:
  using Task::Task;
  using Terms = mj::WalkerTerms;
  static constexpr auto& kOptions = ant::kOptions;
  static constexpr bool kContactForces = true;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }

  mj::Point Place(const World& w) const { return {data().xpos[3 * w.main_body_id], data().xpos[3 * w.main_body_id + 1]}; }

  Terms Judge(const World& w, const float* action) const {
    const bool healthy = Healthy(w);
    const mjtNum* const forces = data().cfrc_ext;
    return {.forward = velocity().x * w.forward_reward_weight,
            .survive = (healthy ? 1.0 : 0.0) * w.healthy_reward,
            .ctrl = -mj::SquaresOfAction(w.ctrl_cost_weight, action, w.nu()),
            .contact = -mj::Squares(w.contact_cost_weight, 6 * w.nbody(),
                                    [&](int i) { return mj::Clip(forces[i], w.contact_force_min, w.contact_force_max); }),
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
