// The task Humanoid-v5 of Gymnasium: a two-legged body is paid for walking along x upright. See README.md for the formulas.
#pragma once

#include "mujoco/humanoid.hpp"

namespace humanoid {

struct Options : mj::HumanoidOptions {
  void Check(const bp::Config&) const {
    mj::RequireOrder("contact_cost_min", contact_cost_min, "contact_cost_max", contact_cost_max);
    mj::RequireOrder("healthy_z_min", healthy_z_min, "healthy_z_max", healthy_z_max);
  }

  double forward_reward_weight = 1.25, ctrl_cost_weight = 0.1, contact_cost_weight = 5e-7;
  double contact_cost_min = 0, contact_cost_max = 10, healthy_reward = 5, healthy_z_min = 1, healthy_z_max = 2;
  bool terminate_when_unhealthy = true;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("forward_reward_weight", &Options::forward_reward_weight, "Reward per m/s of the centre of mass along x."),
    bp::Opt("ctrl_cost_weight", &Options::ctrl_cost_weight, "[0,)",
            "Cost of the sum of squared controls; a higher cost makes the gait calmer."),
    bp::Opt("contact_cost_weight", &Options::contact_cost_weight, "[0,)",
            "Cost of the sum of squared contact forces, before the clip."),
    bp::Opt("contact_cost_min", &Options::contact_cost_min, "Lower limit of the contact cost; 0: no limit.",
            {.aliases = "contact_cost_range[0]"}),
    bp::Opt("contact_cost_max", &Options::contact_cost_max,
            "Upper limit of the contact cost, so that one hard hit does not decide an episode.",
            {.aliases = "contact_cost_range[1]"}),
    bp::Opt("healthy_reward", &Options::healthy_reward, "Reward of every step with a healthy body."),
    bp::Opt("terminate_when_unhealthy", &Options::terminate_when_unhealthy, "Ends the episode if the body is not healthy."),
    bp::Opt("healthy_z_min", &Options::healthy_z_min, "The root is healthy above this height.",
            {.unit = "m", .aliases = "healthy_z_range[0]"}),
    bp::Opt("healthy_z_max", &Options::healthy_z_max, "The root is healthy below this height.",
            {.unit = "m", .aliases = "healthy_z_range[1]"}),
    mj::kHumanoidOptions,
};

struct World : mj::HumanoidWorld<Options> {
  explicit World(const Options& o)
      : HumanoidWorld(o, "humanoid.xml", mj::Pose::kStanding),
        mass(mj::Sum<double>(0, nbody(), [this](int i) { return model()->body_mass[i]; })) {}

  const double mass;  // kg
};

// One row.
class Humanoid : public mj::HumanoidTask<Humanoid, World> {
 public:
  using HumanoidTask::HumanoidTask;
  using Terms = mj::WalkerTerms;
  static constexpr auto& kOptions = humanoid::kOptions;

  // The centre of mass: body after body in numerator, as np.einsum adds.
  mj::Point Place(const World& w) const {
    const mjtNum* const centres = data().xipos;
    double x = 0, y = 0;
    for (int i = 0; i < w.nbody(); ++i) {
      x += w.model()->body_mass[i] * centres[3 * i];
      y += w.model()->body_mass[i] * centres[3 * i + 1];
    }
    return {x / w.mass, y / w.mass};
  }

  // The control cost uses data.ctrl and is float64; contact forces are not clipped, but their cost is.
  Terms Judge(const World& w, const float*) const {
    const double z = data().qpos[2];
    const bool healthy = w.healthy_z_min < z && z < w.healthy_z_max;
    return {.forward = w.forward_reward_weight * velocity().x,
            .survive = (healthy ? 1.0 : 0.0) * w.healthy_reward,
            .ctrl = -SquaresOfControls(w, w.ctrl_cost_weight),
            .contact = -mj::Clip(SquaresOfContacts(w, w.contact_cost_weight), w.contact_cost_min, w.contact_cost_max),
            .terminated = w.terminate_when_unhealthy && !healthy};
  }

  template <class Out>
  void Inform(const World& w, const Terms& terms, const Out& out) const {
    const double x = data().qpos[0], y = data().qpos[1];
    out("x_position", x);
    out("y_position", y);
    InformOfTendons(w, out);
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
