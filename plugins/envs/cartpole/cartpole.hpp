// The cart with a pole of Barto, Sutton and Anderson (1983), "Neuronlike adaptive elements that can solve difficult learning
// control problems", as CartPole-v1 of Gymnasium computes it: float64 state, explicit Euler.
#pragma once

#include <cmath>
#include <numbers>

namespace cartpole {

inline constexpr double kGravity = 9.8, kCartMass = 1.0, kPoleMass = 0.1, kHalfLength = 0.5, kForce = 10.0, kTau = 0.02;  // SI
inline constexpr double kXLimit = 2.4, kThetaLimit = 12 * 2 * std::numbers::pi / 360;  // m, rad
inline constexpr double kResetRange = 0.05;

struct State {
  double x = 0, x_dot = 0, theta = 0, theta_dot = 0;  // m, m/s, rad, rad/s

  // One step with the force to the right or to the left. The order of the operations decides the last bits: keep it.
  void Advance(bool right) {
    const double total_mass = kCartMass + kPoleMass, pole_mass_length = kPoleMass * kHalfLength;
    const double force = right ? kForce : -kForce, cosine = std::cos(theta), sine = std::sin(theta);
    const double temp = (force + pole_mass_length * (theta_dot * theta_dot) * sine) / total_mass;
    const double theta_acc =
        (kGravity * sine - cosine * temp) / (kHalfLength * (4.0 / 3.0 - kPoleMass * (cosine * cosine) / total_mass));
    const double x_acc = temp - pole_mass_length * theta_acc * cosine / total_mass;
    x = x + kTau * x_dot;
    x_dot = x_dot + kTau * x_acc;
    theta = theta + kTau * theta_dot;
    theta_dot = theta_dot + kTau * theta_acc;
  }

  bool Fallen() const { return x < -kXLimit || x > kXLimit || theta < -kThetaLimit || theta > kThetaLimit; }

  void Observe(float* obs) const {  // [4]
    obs[0] = static_cast<float>(x);
    obs[1] = static_cast<float>(x_dot);
    obs[2] = static_cast<float>(theta);
    obs[3] = static_cast<float>(theta_dot);
  }
};

}  // namespace cartpole
