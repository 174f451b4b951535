// Renders a film as one animated SVG file. It uses only CSS, without scripts or external files, so that it plays in any page
// that shows pictures. Its <metadata> has further data for a player, as JSON.
#pragma once

#include <string>

#include "record/film.hpp"

namespace backplane {

inline constexpr double kFilmHold_s = 1.4;  // extra time of the last frame before the film restarts
// Names of its animations. A page with several films makes them unique.
inline constexpr char kFilmStrip[] = "film-strip", kFilmMark[] = "film-mark";

// Shows the step, the return so far, `title`, the film's notes and the return curve below the pictures. A viewer without
// animation shows the last frame.
std::string FilmSvg(const Film& film, const std::string& title);
// A single frame, as displayed in the film.
std::string StillSvg(const Film& film, const std::string& title, size_t frame);

}  // namespace backplane
