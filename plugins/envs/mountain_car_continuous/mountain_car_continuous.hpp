// A car in a valley, too weak to climb the hill in one go (Moore, 1990), computed like Gymnasium's MountainCarContinuous-v0.
#pragma once

#include <cmath>
#include <cstdint>

namespace mountain_car_continuous {

inline constexpr double kMinPosition = -1.2, kMaxPosition = 0.6, kGoalPosition = 0.45, kMaxSpeed = 0.07;
inline constexpr double kPower = 0.0015, kGravity = 0.0025, kMaxAction = 1;

struct State {
  double position = 0, velocity = 0;
  uint64_t fresh = 1;  // no step since the reset; as wide as the others, so that a snapshot has no padding

  // One step; true if it reached the goal. Gymnasium draws the first state as float64 and stores every later one as float32,
  // and numpy computes in the type of the state.
  bool Advance(float action, double goal_velocity) {
    const bool first = fresh == 1;
    fresh = 0;
    return first ? Move<double>(action, goal_velocity) : Move<float>(action, goal_velocity);
  }

  void Observe(float* obs) const {  // [2]
    obs[0] = static_cast<float>(position);
    obs[1] = static_cast<float>(velocity);
  }

 private:
  // An action within its limits stays float32, and so does the push; a clipped action is a Python number, which is float64.
  static double Push(float action, double slope) {
    if (action < -kMaxAction) return -kMaxAction * kPower - slope;
    if (action > kMaxAction) return kMaxAction * kPower - slope;
    return action * static_cast<float>(kPower) - static_cast<float>(slope);
  }

  template <class Real>
  bool Move(float action, double goal_velocity) {
    constexpr Real kFastest = kMaxSpeed, kLeft = kMinPosition, kRight = kMaxPosition;
    Real x = static_cast<Real>(position), v = static_cast<Real>(velocity);
    v += static_cast<Real>(Push(action, kGravity * std::cos(static_cast<double>(3 * x))));
    if (v > kFastest) v = kFastest;
    if (v < -kFastest) v = -kFastest;
    x += v;
    if (x > kRight) x = kRight;
    if (x < kLeft) x = kLeft;
    if (x == kLeft && v < 0) v = 0;
    position = static_cast<float>(x);
    velocity = static_cast<float>(v);
    return x >= static_cast<Real>(kGoalPosition) && v >= static_cast<Real>(goal_velocity);
  }
};

}  // namespace mountain_car_continuous
