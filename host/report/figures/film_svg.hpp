// A film as one SVG file that moves by itself: CSS alone, nothing to load, no scripts, so that it plays wherever a page shows
// pictures.
#pragma once

#include <string>

#include "record/film.hpp"

namespace backplane {

inline constexpr double kFrame_s = 0.2;

// Below the pictures stand the step, `title` and the film's notes. A viewer that does not move pictures shows the last frame.
std::string FilmSvg(const Film& film, const std::string& title);

}  // namespace backplane
