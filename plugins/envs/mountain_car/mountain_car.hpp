// A weak car in a valley, computed like Gymnasium's MountainCar-v0 (Moore, 1990): float64 state.
#pragma once

#include <algorithm>
#include <cmath>

namespace mountain_car {

inline constexpr double kMinPosition = -1.2, kMaxPosition = 0.6, kGoalPosition = 0.5, kMaxSpeed = 0.07;
inline constexpr double kForce = 0.001, kGravity = 0.0025;

struct State {
  double position = 0, velocity = 0;

  // One step with a push of -1, 0 or 1; true if it reached the goal. Keep the order of the operations, which determines the
  // last bits.
  bool Advance(int push, double goal_velocity) {
    velocity += push * kForce + std::cos(3 * position) * -kGravity;
    velocity = std::clamp(velocity, -kMaxSpeed, kMaxSpeed);
    position = std::clamp(position + velocity, kMinPosition, kMaxPosition);
    if (position == kMinPosition && velocity < 0) velocity = 0;
    return position >= kGoalPosition && velocity >= goal_velocity;
  }

  void Observe(float* obs) const {  // [2]
    obs[0] = static_cast<float>(position);
    obs[1] = static_cast<float>(velocity);
  }
};

}  // namespace mountain_car
