// The options of the quadruped, and values derived from them.
#pragma once

#include "numbers.hpp"

namespace quadruped_stand {

enum class Observed { kJointsVel, kQposQvel };
constexpr auto WordsOf(Observed) {
  return bp::Words<Observed>({{"joints_vel", Observed::kJointsVel}, {"qpos_qvel", Observed::kQposQvel}});
}
enum class UpShape { kBand, kRamp };
constexpr auto WordsOf(UpShape) { return bp::Words<UpShape>({{"band", UpShape::kBand}, {"ramp", UpShape::kRamp}}); }

struct Options : NumberOptions {
  Observed obs = Observed::kJointsVel;
  UpShape up_shape = UpShape::kBand;
  double knee_lo = 0.5, knee_hi = 0.7, height_cost = 0.1, hip_noise = 0.01, knee_noise = 0.02;
  int64_t action_repeat = 3;
  std::optional<int64_t> max_episode_steps;
};

// A row of the table of numbers.hpp as an option.
#define OPTION(name, first, second, range, unit_, help) \
  bp::Opt(#name, &Options::name, range, help " `phase`: " #first " in phase 1, " #second " in phase 2.", {.unit = unit_}),

inline constexpr bp::OptionTable kOptions{
    bp::Opt("phase", &Options::phase, "[1,2]", "Sets all options below whose value is `phase`; phase 2 is stricter."),
    bp::Opt("obs", &Options::obs, "Observes joints and all speeds (22 numbers), or all positions and speeds (29)."),
    bp::Opt("up_shape", &Options::up_shape,
            "Reward for uprightness: `band` is highest at a tilt of 27 degrees and 0 when upright, `ramp` is highest when "
            "upright."),
    bp::Opt("knee_lo", &Options::knee_lo, "[0,1]", "Smallest rewarded bend of a knee, as a share of its range."),
    bp::Opt("knee_hi", &Options::knee_hi, "[0,1]", "Largest rewarded bend of a knee, as a share of its range."),
    bp::Opt("height_cost", &Options::height_cost, "[0,)",
            "Cost of the squared distance from z_lo .. z_hi, in units of its width."),
    QUADRUPED_STAND_NUMBERS(OPTION)
        bp::Opt("hip_noise", &Options::hip_noise, "[0,)", "Spread of the hips at the start (normal).", {.unit = "rad"}),
    bp::Opt("knee_noise", &Options::knee_noise, "[0,)",
            "Spread of the knees at the start (normal), as a share of their range."),
    bp::Opt("action_repeat", &Options::action_repeat, "[1,1000]", "Simulation steps of 2 ms per env step; cost grows with it."),
    bp::Opt("max_episode_steps", &Options::max_episode_steps, "phase|[1,)",
            "Steps after which the host ends an episode. `phase`: 200 in phase 1, 250 in phase 2."),
};
#undef OPTION

}  // namespace quadruped_stand
