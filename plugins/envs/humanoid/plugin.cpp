#include "humanoid.hpp"

struct HumanoidPlugin : humanoid::Humanoid {
  using Humanoid::Humanoid;
  static constexpr uint16_t kSpec = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC;
  static constexpr bp::About kAbout{"env.humanoid", "1.0.0",
                                    "A two-legged body learns to walk: Humanoid-v5 of Gymnasium on MuJoCo."};
  static constexpr bp_param kOptions[] = {
      bp::F64("forward_reward_weight", "1.25", nullptr, "Reward per m/s of the centre of mass along x."),
      bp::F64("ctrl_cost_weight", "0.1", "[0,)", "Cost of the sum of squared controls; more makes the gait calmer."),
      bp::F64("contact_cost_weight", "5.0e-7", "[0,)", "Cost of the sum of squared contact forces, before the clip."),
      bp::F64("contact_cost_min", "0", nullptr,
              "The contact cost is clipped from below; at 0, which it never falls short of, not at all."),
      bp::F64("contact_cost_max", "10", nullptr,
              "The contact cost is clipped from above, so that one hard hit does not decide an episode."),
      bp::F64("healthy_reward", "5", nullptr, "Reward of every step in which the body is healthy."),
      bp::Bool("terminate_when_unhealthy", "true", "End the episode when the body is not healthy."),
      bp::F64("healthy_z_min", "1.0", nullptr, "The root is healthy above this height.", {.unit = "m"}),
      bp::F64("healthy_z_max", "2.0", nullptr, "The root is healthy below this height.", {.unit = "m"}),
      bp::F64("reset_noise_scale", "0.01", "[0,)", "Spread of the initial positions and speeds (both uniform)."),
      bp::Bool("exclude_current_positions_from_observation", "true", "Leave x and y of the root out of the observation.",
               {.flags = BP_PARAM_AFFECTS_SPEC}),
      bp::Bool("include_cinert_in_observation", "true", "Observe the inertia of the bodies: 130 numbers.", {.flags = kSpec}),
      bp::Bool("include_cvel_in_observation", "true", "Observe the velocity of the bodies: 78 numbers.", {.flags = kSpec}),
      bp::Bool("include_qfrc_actuator_in_observation", "true", "Observe the actuators' forces: 17 numbers.", {.flags = kSpec}),
      bp::Bool("include_cfrc_ext_in_observation", "true", "Observe the contact forces: 78 numbers.", {.flags = kSpec}),
      mj::kFrameSkip,
      mj::kMaxEpisodeSteps,
      mj::kXmlPath,
  };
};

BP_PLUGINS(bp::Env<HumanoidPlugin>);
