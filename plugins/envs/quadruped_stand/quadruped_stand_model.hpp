// The built-in model of the quadruped.
#pragma once

#include <string>

namespace quadruped_stand {

// Legs in the order front left, front right, back left, back right; each has a hip and then a knee, in the joints and in the
// motors.
inline constexpr int kLegs = 4;

// MJCF of a box on four legs: a free root and 8 hinges about y, 8 motors, 55.1 kg, Euler at 0.002 s. Geoms in the order floor,
// torso, then thigh, shin and foot of each leg.
std::string ModelXml();

}  // namespace quadruped_stand
