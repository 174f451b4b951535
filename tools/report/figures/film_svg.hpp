// A film as one animated SVG file: only CSS, with no scripts and no files to load, so that it plays wherever a page shows
// pictures. Its <metadata> has further data for a player, as JSON.
#pragma once

#include <string>

#include "record/film.hpp"

namespace backplane {

inline constexpr double kFilmHold_s = 1.4;  // extra time of the last frame before the film restarts
// Names of its animations, which a page that shows several films makes different.
inline constexpr char kFilmStrip[] = "film-strip", kFilmMark[] = "film-mark";

// Below the pictures stand the step and its return so far, `title`, the film's notes, and the return over the episode. A viewer
// that does not move pictures shows the last frame.
std::string FilmSvg(const Film& film, const std::string& title);
// One frame of it alone, as it looks while it is shown.
std::string StillSvg(const Film& film, const std::string& title, size_t frame);

}  // namespace backplane
