// The built-in model of the humanoid.
#pragma once

#include <string>

namespace humanoid {

// MJCF of a two-legged body: 18 joints, 17 motors, 2 tendons, 42.1 kg, RK4 at 0.003 s, solver PGS.
std::string ModelXml();

}  // namespace humanoid
