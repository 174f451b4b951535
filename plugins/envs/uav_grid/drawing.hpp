// The grid as a picture, for people: SVG elements without scripts, ids and links.
#pragma once

#include <string>

#include "backplane/env_pictures.hpp"
#include "row.hpp"

namespace backplane::uav_grid {

bp::PictureSize SizeOfPicture(const Model& model);
// Appends the ground, obstacles and targets: what stays for an episode.
void DrawMap(const Model& model, const Row& row, std::string* out);
// Appends the UAVs with what they see and the move they just made, and how many fly, have arrived and have crashed.
void DrawUavs(const Model& model, const Row& row, std::string* out);

}  // namespace backplane::uav_grid
