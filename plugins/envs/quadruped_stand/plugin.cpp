#include "drawing.hpp"

// A row of the table of numbers.hpp as an option.
#define OPTION(name, first, second, range, unit_, help) \
  bp::F64(#name, "phase", range, help " `phase`: " #first " in phase 1, " #second " in phase 2.", {.unit = unit_}),

struct QuadrupedStandPlugin : quadruped_stand::QuadrupedStand {
  using QuadrupedStand::QuadrupedStand;
  static constexpr bp::About kAbout{"env.quadruped_stand", "1.0.0",
                                    "A box on four legs learns to stand, in two phases; on MuJoCo."};
  static constexpr bp_param kOptions[] = {
      bp::I64("phase", "1", "[1,2]", "Sets every number below that is given as `phase`: 2 is stricter and goes on from 1."),
      bp::Enum("obs", "joints_vel", "joints_vel|qpos_qvel",
               "Joints and all speeds: 22 numbers; or all positions and speeds: 29.",
               {.flags = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC}),
      bp::Enum(
          "up_shape", "band", "band|ramp",
          "Reward for uprightness: `band` pays most at a tilt of 27 degrees and 0 when upright, `ramp` most when upright."),
      bp::F64("knee_lo", "0.5", "[0,1]", "Least bend of a knee that is rewarded, as a share of its range."),
      bp::F64("knee_hi", "0.7", "[0,1]", "Largest bend of a knee that is rewarded, as a share of its range."),
      bp::F64("height_cost", "0.1", "[0,)", "Cost of the squared distance from z_lo .. z_hi, in units of its width."),
      QUADRUPED_STAND_NUMBERS(OPTION)
          bp::F64("hip_noise", "0.01", "[0,)", "Spread of the hips at the start (normal).", {.unit = "rad"}),
      bp::F64("knee_noise", "0.02", "[0,)", "Spread of the knees at the start (normal), as a share of their range."),
      bp::I64("action_repeat", "3", "[1,1000]", "Simulation steps of 2 ms per env step; cost grows with it."),
      bp::I64("max_episode_steps", "phase", "phase|[1,)",
              "The host ends an episode after so many steps. `phase`: 200 in phase 1, 250 in phase 2."),
  };

#undef OPTION

  static bp::PictureSize SizeOfPicture(const Model&) { return quadruped_stand::kPicture; }
  void DrawBackdrop(const Model& world, std::string* out) const { quadruped_stand::DrawGround(world, out); }
  void DrawFrame(const Model& world, std::string* out) const { quadruped_stand::DrawRobot(world, *this, out); }
};

BP_PLUGINS(bp::Env<QuadrupedStandPlugin>);
