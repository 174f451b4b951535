// The cart with a pole of Barto, Sutton and Anderson (1983), "Neuronlike adaptive elements that can solve difficult learning
// control problems", computed like Gymnasium's CartPole-v1: float64 state, explicit Euler.
#pragma once

#include <cmath>
#include <numbers>

namespace cartpole {

inline constexpr double kGravity = 9.8, kCartMass = 1.0, kPoleMass = 0.1, kHalfLength = 0.5, kForce = 10.0, kTau = 0.02;  // SI
inline constexpr double kXLimit = 2.4, kThetaLimit = 12 * 2 * std::numbers::pi / 360;  // m, rad
inline constexpr double kResetRange = 0.05;

// One step of one row (Real is double) or of several (a vector of them). Keep the order of the operations, which determines the
// last bits.
template <class Real>
inline __attribute__((always_inline)) void Advance(const Real& force, const Real& sine, const Real& cosine, Real* x,
                                                   Real* x_dot, Real* theta, Real* theta_dot) {
  constexpr double kTotalMass = kCartMass + kPoleMass, kPoleMassLength = kPoleMass * kHalfLength;
  const Real temp = (force + kPoleMassLength * (*theta_dot * *theta_dot) * sine) / kTotalMass;
  const Real theta_acc =
      (kGravity * sine - cosine * temp) / (kHalfLength * (4.0 / 3.0 - kPoleMass * (cosine * cosine) / kTotalMass));
  const Real x_acc = temp - kPoleMassLength * theta_acc * cosine / kTotalMass;
  *x = *x + kTau * *x_dot;
  *x_dot = *x_dot + kTau * x_acc;
  *theta = *theta + kTau * *theta_dot;
  *theta_dot = *theta_dot + kTau * theta_acc;
}

struct State {
  double x = 0, x_dot = 0, theta = 0, theta_dot = 0;  // m, m/s, rad, rad/s

  void Step(bool right) { Advance(right ? kForce : -kForce, std::sin(theta), std::cos(theta), &x, &x_dot, &theta, &theta_dot); }
  bool Fallen() const { return x < -kXLimit || x > kXLimit || theta < -kThetaLimit || theta > kThetaLimit; }
  void Observe(float* obs) const {  // [4]
    obs[0] = static_cast<float>(x);
    obs[1] = static_cast<float>(x_dot);
    obs[2] = static_cast<float>(theta);
    obs[3] = static_cast<float>(theta_dot);
  }
};

}  // namespace cartpole
