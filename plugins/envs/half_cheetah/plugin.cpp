#include "half_cheetah.hpp"

struct HalfCheetahPlugin : half_cheetah::HalfCheetah {
  using HalfCheetah::HalfCheetah;
  static constexpr bp::About kAbout{"env.half_cheetah", "1.0.0",
                                    "A planar two-legged body learns to run: HalfCheetah-v5 of Gymnasium on MuJoCo."};
  static constexpr bp_param kOptions[] = {
      bp::F64("forward_reward_weight", "1", nullptr, "Reward per m/s along x."),
      bp::F64("ctrl_cost_weight", "0.1", "[0,)", "Cost of the sum of squared actions; more makes the gait calmer."),
      bp::F64("reset_noise_scale", "0.1", "[0,)", "Spread of the initial positions (uniform) and speeds (normal)."),
      bp::Bool("exclude_current_positions_from_observation", "true", "Leave x of the root out of the observation.",
               {.flags = BP_PARAM_AFFECTS_SPEC}),
      mj::kFrameSkip,
      mj::kMaxEpisodeSteps,
      mj::kXmlPath,
  };
};

BP_PLUGINS(bp::Env<HalfCheetahPlugin>);
