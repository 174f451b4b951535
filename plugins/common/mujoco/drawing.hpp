// A simulated body as a person sees it from its right side, for films: the shapes of its geoms on a chequered floor, by a
// camera that goes along with the first body. MuJoCo's data are read alone, so that a film changes no bit of an episode.
#pragma once

#include <string>

#include "backplane/env_pictures.hpp"
#include "mujoco/model.hpp"

namespace mj {

inline constexpr bp::PictureSize kPicture = {640, 360};

// The ground behind every picture.
void DrawGround(std::string* out);
// Places are those of the last simulation step's beginning, as mj_step leaves them. Limbs without a colour of their own get
// one each; `trunk` is the colour of what bears them. A ring marks a contact with the floor; `caption` stands above.
void DrawBody(const mjModel* model, const mjData& data, const std::string& caption, std::string* out,
              const char* trunk = "#9aa3ad");

}  // namespace mj
