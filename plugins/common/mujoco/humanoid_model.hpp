// The built-in model of a body with two arms and two legs, as Humanoid and HumanoidStandup of Gymnasium begin with it.
#pragma once

#include <string>

namespace mj {

enum class Pose { kStanding, kLying };

// MJCF: 18 joints, 17 motors, 42.1 kg, RK4 at 0.003 s.
std::string HumanoidXml(Pose pose);

}  // namespace mj
