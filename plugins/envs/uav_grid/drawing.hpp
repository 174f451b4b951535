// Draws the grid for people: SVG elements without scripts, ids and links.
#pragma once

#include <string>

#include "backplane/env_pictures.hpp"
#include "row.hpp"

namespace backplane::uav_grid {

bp::PictureSize SizeOfPicture(const Model& model);
// Appends the background, obstacles and targets, which are constant during an episode.
void DrawMap(const Model& model, const Row& row, std::string* out);
// Appends the UAVs with their visible area and last move, and the numbers of active, arrived and crashed UAVs.
void DrawUavs(const Model& model, const Row& row, std::string* out);

}  // namespace backplane::uav_grid
