#include "ant.hpp"

struct AntPlugin : ant::Ant {
  using Ant::Ant;
  static constexpr bp::About kAbout{"env.ant", "1.1.0", "A four-legged body learns to walk: Ant-v5 of Gymnasium on MuJoCo."};
  static constexpr bp_param kOptions[] = {
      bp::F64("forward_reward_weight", "1", nullptr, "Reward per m/s of the main body along x."),
      bp::F64("ctrl_cost_weight", "0.5", "[0,)", "Cost of the sum of squared actions; more makes the gait calmer."),
      bp::F64("contact_cost_weight", "0.0005", "[0,)", "Cost of the sum of squared, clipped contact forces."),
      bp::F64("healthy_reward", "1", nullptr, "Reward of every step in which the body is healthy."),
      bp::Str("main_body", "1", "Body whose speed is rewarded, by name or number; 1 is the torso."),
      bp::Bool("terminate_when_unhealthy", "true", "End the episode when the body is not healthy."),
      bp::F64("healthy_z_min", "0.2", nullptr, "Lowest healthy height of the root.", {.unit = "m"}),
      bp::F64("healthy_z_max", "1.0", nullptr, "Largest healthy height of the root.", {.unit = "m"}),
      bp::F64("contact_force_min", "-1", nullptr, "Contact forces are clipped from below, in cost and observation.",
              {.unit = "N"}),
      bp::F64("contact_force_max", "1", nullptr, "Contact forces are clipped from above, in cost and observation.",
              {.unit = "N"}),
      bp::F64("reset_noise_scale", "0.1", "[0,)", "Spread of the initial positions (uniform) and speeds (normal)."),
      bp::Bool("exclude_current_positions_from_observation", "true", "Leave x and y of the root out of the observation.",
               {.flags = BP_PARAM_AFFECTS_SPEC}),
      bp::Bool("include_cfrc_ext_in_observation", "true", "Observe the contact forces: 105 numbers instead of 27.",
               {.flags = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC}),
      mj::kFrameSkip,
      mj::kMaxEpisodeSteps,
      mj::kXmlPath,
  };
};

BP_PLUGINS(bp::Env<AntPlugin>);
