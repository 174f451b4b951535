// A pendulum to swing up with a weak motor, computed like Gymnasium's Pendulum-v1: float64 state, float32 torque.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "classic/square.hpp"

namespace pendulum {

using classic::Square;

inline constexpr double kMaxSpeed = 8, kMaxTorque = 2, kTau = 0.05;  // rad/s, N m, s; mass and length are 1

// Maps the angle to [-pi, pi) with Python's remainder, which has the sign of the divisor.
inline double Normalize(double angle) {
  constexpr double kPi = std::numbers::pi;
  double turn = std::fmod(angle + kPi, 2 * kPi);
  if (turn < 0) turn += 2 * kPi;
  return turn - kPi;
}

struct State {
  double theta = 0, theta_dot = 0;  // rad, 0 is upright; rad/s

  // One step; returns the reward for the state before it. Expressions in float are float32 in numpy too.
  double Advance(double gravity, float torque) {
    const float u = std::clamp(torque, static_cast<float>(-kMaxTorque), static_cast<float>(kMaxTorque));
    const double cost = Square(Normalize(theta)) + 0.1 * Square(theta_dot) + 0.001f * Square(u);
    const double acceleration = 3 * gravity / 2 * std::sin(theta) + 3.0f * u;
    theta_dot = std::clamp(theta_dot + acceleration * kTau, -kMaxSpeed, kMaxSpeed);
    theta = theta + theta_dot * kTau;
    return -cost;
  }

  void Observe(float* obs) const {  // [3]
    obs[0] = static_cast<float>(std::cos(theta));
    obs[1] = static_cast<float>(std::sin(theta));
    obs[2] = static_cast<float>(theta_dot);
  }
};

}  // namespace pendulum
