// The numbers that depend on the training phase, each also an option: name, value in phase 1, in phase 2, range, unit, help.
// The option table (options.hpp), its help and the members of Numbers are generated from this list.
#pragma once

#include "backplane/plugin.hpp"

// clang-format off
#define QUADRUPED_STAND_NUMBERS(X)                                                                                                 \
  X(z_lo, 0.42, 0.45, "phase|[0,)", "m", "Lower end of the heights to stand at.")                                                  \
  X(z_hi, 0.52, 0.55, "phase|[0,)", "m", "Upper end of the heights to stand at.")                                                  \
  X(z_min, 0.22, 0.25, "phase", "m", "The episode ends when the torso is lower.")                                                  \
  X(up_min, 0.80, 0.85, "phase|[-1,0.98)", nullptr, "Minimum uprightness (cosine of the tilt) to count as standing.")              \
  X(alive_reward, 0.6, 0.8, "phase", nullptr, "Reward of every step.")                                                             \
  X(stand_reward, 2.5, 3.0, "phase", nullptr, "Reward of the best height and uprightness, half for each.")                         \
  X(streak_reward, 0.08, 0.12, "phase", nullptr, "Limit of the reward for standing a long time.")                                  \
  X(streak_scale, 25, 20, "phase|(0,)", "steps", "Standing time that earns 76 % of streak_reward.")                                \
  X(knee_reward, 2.0, 2.5, "phase", nullptr, "Reward of all knees in the middle of knee_lo .. knee_hi.")                           \
  X(knee_cost, 0.8, 1.0, "phase|[0,)", nullptr, "Cost of the knees' mean squared distance from the middle of knee_lo .. knee_hi.") \
  X(knee_under_cost, 0.08, 0.10, "phase|[0,)", nullptr, "Cost of each knee's squared distance below knee_lo.")                     \
  X(knee_over_cost, 0.15, 0.20, "phase|[0,)", nullptr, "Cost of each knee's squared distance above knee_hi.")                      \
  X(speed_cost, 3, 4, "phase|[0,)", nullptr, "Cost of the squared speed along x while standing.")                                  \
  X(tilt_cost, 0.08, 0.10, "phase|[0,)", nullptr, "Cost of 1 - uprightness.")                                                      \
  X(spin_cost, 0.08, 0.10, "phase|[0,)", nullptr, "Cost of the squared speeds of roll and pitch.")                                 \
  X(drift_cost, 0.12, 0.15, "phase|[0,)", nullptr, "Cost of the squared speeds along y, of roll and of pitch.")                    \
  X(change_cost, 0.001, 0.0015, "phase|[0,)", nullptr, "Cost of the squared changes of the controls.")                             \
  X(ctrl_cost, 0.0002, 0.0003, "phase|[0,)", nullptr, "Cost of the squared controls.")                                             \
  X(crouch, 0.80, 0.75, "phase|[0,1]", nullptr, "Knees at the start, as a share of their range; 1 is folded.")                     \
  X(pitch, -0.08, -0.06, "phase|[-1.5,1.5]", "rad", "Pitch at the start.")
// clang-format on

namespace quadruped_stand {

// Numbers resolves options whose default is `phase`.
struct NumberOptions {
  int64_t phase = 1;
#define MEMBER(name, ...) std::optional<double> name;
  QUADRUPED_STAND_NUMBERS(MEMBER)
#undef MEMBER
};

struct Numbers {
  explicit Numbers(const NumberOptions& o) {
#define VALUE(name, first, second, ...) name = o.name.value_or(o.phase == 1 ? first : second);
    QUADRUPED_STAND_NUMBERS(VALUE)
#undef VALUE
  }

#define MEMBER(name, ...) double name;
  QUADRUPED_STAND_NUMBERS(MEMBER)
#undef MEMBER
};

}  // namespace quadruped_stand
