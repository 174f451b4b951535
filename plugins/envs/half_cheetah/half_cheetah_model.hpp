// The built-in model of the cheetah.
#pragma once

#include <string>

namespace half_cheetah {

// MJCF of a planar two-legged body: 9 joints, 6 motors, 14 kg, Euler at 0.01 s.
std::string ModelXml();

}  // namespace half_cheetah
