// Two hanging links with a motor between them, computed like Gymnasium's Acrobot-v1 (Sutton, 1996, "Generalization in
// reinforcement learning: successful examples using sparse coarse coding", with the equations of Sutton and Barto's book):
// float64 state, fourth-order Runge-Kutta.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "classic/square.hpp"

namespace acrobot {

inline constexpr double kTau = 0.2, kPi = std::numbers::pi;          // s
inline constexpr double kMaxSpeed1 = 4 * kPi, kMaxSpeed2 = 9 * kPi;  // rad/s

// numpy's cosine and sine of float32 numbers below pi / 4, on processors with a fused multiply-add.
inline float Cosine(float x) {
  const float square = x * x;
  float sum = std::fma(0x1.98e616p-16f, square, -0x1.6c06dcp-10f);
  sum = std::fma(sum, square, 0x1.55553cp-05f);
  sum = std::fma(sum, square, -0x1p-1f);
  return std::fma(sum, square, 1.0f);
}
inline float Sine(float x) {
  const float square = x * x;
  float sum = std::fma(0x1.7d3bbcp-19f, square, -0x1.a06bbap-13f);
  sum = std::fma(sum, square, 0x1.11119ap-07f);
  sum = std::fma(sum, square, -0x1.555556p-03f);
  return std::fma(sum * square, x, x);
}

struct State {
  double theta1 = 0, theta2 = 0, speed1 = 0, speed2 = 0;  // rad, of the second link from the first one's direction; rad/s

  // One step with a torque of -1, 0 or 1 N m.
  void Advance(double torque) {
    const State k1 = Slope(torque), k2 = Moved(kTau / 2, k1).Slope(torque), k3 = Moved(kTau / 2, k2).Slope(torque),
                k4 = Moved(kTau, k3).Slope(torque);
    const auto next = [&](double State::*part) {
      return this->*part + kTau / 6 * (k1.*part + 2 * k2.*part + 2 * k3.*part + k4.*part);
    };
    *this = {Wrap(next(&State::theta1)), Wrap(next(&State::theta2)), std::clamp(next(&State::speed1), -kMaxSpeed1, kMaxSpeed1),
             std::clamp(next(&State::speed2), -kMaxSpeed2, kMaxSpeed2)};
  }

  // The tip is a link's length above the fixed joint.
  bool IsUp() const { return -std::cos(theta1) - std::cos(theta2 + theta1) > 1; }

  void Observe(float* obs) const {  // [6]
    for (const double angle : {theta1, theta2})
      *obs++ = static_cast<float>(std::cos(angle)), *obs++ = static_cast<float>(std::sin(angle));
    obs[0] = static_cast<float>(speed1), obs[1] = static_cast<float>(speed2);
  }
  // After a reset, Gymnasium's state is float32, and numpy computes in the type of the state.
  void ObserveStart(float* obs) const {  // [6]
    Observe(obs);
    for (const double angle : {theta1, theta2}) {
      const float x = static_cast<float>(angle);
      if (x == angle && std::abs(x) < 0.75f) obs[0] = Cosine(x), obs[1] = Sine(x);
      obs += 2;
    }
  }

 private:
  // All masses and lengths are 1; centres of mass are at half the length. Keep the order of the operations, which determines
  // the last bits.
  State Slope(double torque) const {
    using classic::Square;
    constexpr double kGravity = 9.8;
    const double sine2 = std::sin(theta2), cosine2 = std::cos(theta2);
    const double d1 = 0.25 + (1.25 + cosine2) + 1 + 1, d2 = 0.25 + 0.5 * cosine2 + 1;
    const double phi2 = 0.5 * kGravity * std::cos(theta1 + theta2 - kPi / 2);
    const double phi1 =
        -0.5 * Square(speed2) * sine2 - speed2 * speed1 * sine2 + 1.5 * kGravity * std::cos(theta1 - kPi / 2) + phi2;
    const double gain2 = (torque + d2 / d1 * phi1 - 0.5 * Square(speed1) * sine2 - phi2) / (0.25 + 1 - Square(d2) / d1);
    return {speed1, speed2, -(d2 * gain2 + phi1) / d1, gain2};
  }

  State Moved(double time, const State& slope) const {
    return {theta1 + time * slope.theta1, theta2 + time * slope.theta2, speed1 + time * slope.speed1,
            speed2 + time * slope.speed2};
  }

  static double Wrap(double angle) {
    while (angle > kPi) angle -= 2 * kPi;
    while (angle < -kPi) angle += 2 * kPi;
    return angle;
  }
};

}  // namespace acrobot
