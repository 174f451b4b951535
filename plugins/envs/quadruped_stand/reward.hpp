// The quadruped's reward function. See README.md for the formula.
#pragma once

#include <algorithm>
#include <cmath>

#include "options.hpp"
#include "quadruped_stand_model.hpp"

namespace quadruped_stand {

// All that a reward depends on, as options.
struct RewardOptions : Numbers {
  explicit RewardOptions(const Options& o)
      : Numbers(o), up_shape(o.up_shape), knee_lo(o.knee_lo), knee_hi(o.knee_hi), height_cost(o.height_cost) {}
  UpShape up_shape;
  double knee_lo, knee_hi, height_cost;
};

// The state after a step and the memory from before it.
struct State {
  const double *qpos, *qvel, *ctrl, *last_ctrl;
  int64_t streak;  // consecutive steps of standing before this step
};

// The terms of a reward, with the signs of the sum.
struct Terms {
  double alive = 0, stand = 0, streak = 0, knees = 0, costs = 0;
  double Reward() const { return alive + stand + streak + knees + costs; }
};

constexpr double kStandingGate = 0.6;  // a step above it counts as standing
constexpr double kUpBest = 0.98;       // limit of the reward for uprightness
constexpr double kKneeSpan = 2;        // rad

inline double Square(double x) { return x * x; }
inline double Unit(double x) { return std::clamp(x, 0.0, 1.0); }
inline double Sigmoid(double x) { return 1 / (1 + std::exp(-30 * x)); }
// 1 in the middle of lo .. hi, 0 at its ends and beyond.
inline double Band(double x, double lo, double hi) { return Unit(1 - 4 * Square(Unit((x - lo) / (hi - lo)) - 0.5)); }

inline double Uprightness(const double* qpos) { return Unit(1 - 2 * (Square(qpos[4]) + Square(qpos[5]))); }

inline double Gate(const Numbers& n, const double* qpos) {
  return Sigmoid(qpos[2] - n.z_lo) * Sigmoid(n.z_hi - qpos[2]) * Sigmoid(Uprightness(qpos) - n.up_min);
}

inline Terms Judge(const RewardOptions& o, const State& s) {
  const double z = s.qpos[2], up = Uprightness(s.qpos), gate = Gate(o, s.qpos);
  const double streak = gate > kStandingGate ? static_cast<double>(s.streak + 1) : 0;

  double band = 0, distance = 0, outside = 0;
  const double middle = (o.knee_lo + o.knee_hi) / 2;
  for (int leg = 0; leg < kLegs; ++leg) {
    const double k = Unit(s.qpos[8 + 2 * leg] / kKneeSpan);
    band += Band(k, o.knee_lo, o.knee_hi) / kLegs;
    distance += Square(k - middle) / kLegs;
    outside +=
        o.knee_under_cost * Square(std::max(o.knee_lo - k, 0.0)) + o.knee_over_cost * Square(std::max(k - o.knee_hi, 0.0));
  }
  double change = 0, effort = 0;
  for (int i = 0; i < 2 * kLegs; ++i) change += Square(s.ctrl[i] - s.last_ctrl[i]), effort += Square(s.ctrl[i]);
  const double spin = Square(s.qvel[3]) + Square(s.qvel[4]);
  const double height = (Square(std::max(o.z_lo - z, 0.0)) + Square(std::max(z - o.z_hi, 0.0))) / Square(o.z_hi - o.z_lo);
  const double upright =
      o.up_shape == UpShape::kRamp ? Unit((up - o.up_min) / (kUpBest - o.up_min)) : Band(up, o.up_min, kUpBest);

  return {.alive = o.alive_reward,
          .stand = o.stand_reward * 0.5 * (Band(z, o.z_lo, o.z_hi) + upright),
          .streak = o.streak_reward * std::tanh(streak / o.streak_scale),
          .knees = o.knee_reward * band - o.knee_cost * distance - outside,
          .costs = -(o.speed_cost * Square(s.qvel[0]) * gate + o.tilt_cost * (1 - up) + o.spin_cost * spin +
                     o.drift_cost * (Square(s.qvel[1]) + spin) + o.change_cost * change + o.ctrl_cost * effort +
                     o.height_cost * height)};
}

}  // namespace quadruped_stand
