// The built-in model of the ant.
#pragma once

#include <string>

namespace ant {

// MJCF of a four-legged body: 9 joints, 8 motors, 0.911 kg, RK4 at 0.01 s.
std::string ModelXml();

}  // namespace ant
