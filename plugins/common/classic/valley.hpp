// The picture of a car in a valley whose height is sin(3 x), drawn as Gymnasium does.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "backplane/env_pictures.hpp"

namespace classic {

class Valley {
 public:
  static constexpr bp::PictureSize kSize = {640, 360};

  constexpr Valley(double left, double right, double goal) : left_(left), scale_(kSize.width / (right - left)), goal_(goal) {}

  void DrawBackdrop(std::string* out) const {
    *out += "<path fill=\"#dfe6d8\" stroke=\"#7a8b6a\" stroke-width=\"2\" d=\"M-5 370";
    for (int i = -1; i <= 65; ++i) bp::Print(out, "L%d %.1f", 10 * i, Y(10.0 * i / scale_ + left_));
    bp::Print(out, "V370z\"/><path d=\"M%.1f %.1fv-50\" stroke=\"#222\" stroke-width=\"2\"/>", X(goal_), Y(goal_));
    bp::Print(out, "<path d=\"M%.1f %.1fl26 9l-26 9z\" fill=\"#e69f00\"/>", X(goal_), Y(goal_) - 50);
  }
  void DrawCar(double position, double velocity, std::string* out) const {
    const double slope = std::atan(1.35 * std::cos(3 * position)) * 180 / std::numbers::pi;
    bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">position %.2f, speed %.3f a step</text>", position,
              velocity);
    bp::Print(out, "<g transform=\"translate(%.1f %.1f)rotate(%.1f)\">", X(position), Y(position), -slope);
    *out +=
        "<rect x=\"-20\" y=\"-25\" width=\"40\" height=\"17\" rx=\"4\" fill=\"#0072b2\"/>"
        "<circle cx=\"-11\" cy=\"-7\" r=\"7\"/><circle cx=\"11\" cy=\"-7\" r=\"7\"/></g>";
  }

 private:
  // Pixels of a position, and of its height.
  double X(double x) const { return scale_ * (x - left_); }
  static double Y(double x) { return 350 - 280 * (0.45 * std::sin(3 * x) + 0.55); }

  double left_, scale_, goal_;
};

}  // namespace classic
