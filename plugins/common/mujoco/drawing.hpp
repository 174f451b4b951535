// Draws a simulated body from its right side for films: its geoms on a chequered floor, with a camera that follows the first
// body. It only reads MuJoCo's data, so a film does not change an episode.
#pragma once

#include <optional>
#include <string>

#include "backplane/env_pictures.hpp"
#include "mujoco/model.hpp"

namespace mj {

inline constexpr bp::PictureSize kPicture = {640, 360};

// The camera looks along y, turned right and down, at the first body.
struct View {
  const char* trunk = "#9aa3ad";      // colour of the body that connects the limbs
  double turn = 0.30, tilt = 0.33;    // rad
  double zoom = 1;                    // above 1: larger bodies
  std::optional<double> height = {};  // m, of the focus above the first body's initial place; unset: half way to the floor
};

// The background of every picture.
void DrawGround(std::string* out);
// Positions are from the start of the last simulation step, as mj_step leaves them. Limbs without a colour get one each. A ring
// marks a contact with the floor; `caption` is at the top.
void DrawBody(const mjModel* model, const mjData& data, const std::string& caption, std::string* out, const View& view = {});

}  // namespace mj
