// The robot from its left side, for people: SVG elements without scripts, ids and links.
#pragma once

#include <string>

#include "backplane/env_pictures.hpp"
#include "quadruped_stand.hpp"

namespace quadruped_stand {

inline constexpr bp::PictureSize kPicture = {640, 340};

// Appends the floor, and the heights at which a step counts as standing: what stays for an episode.
void DrawGround(const World& world, std::string* out);
// Appends the robot where the last step left it, and how long it has stood.
void DrawRobot(const World& world, const QuadrupedStand& row, std::string* out);

}  // namespace quadruped_stand
