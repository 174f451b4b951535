// Draws a figure with gnuplot as a subprocess.
#pragma once

#include <filesystem>
#include <string>

#include "report/figure.hpp"

namespace backplane {

// Writes `folder`/figures/NAME.gp and NAME.csv (one file for all panels), runs gnuplot and puts NAME.png into `folder`. The
// script works by itself: `gnuplot NAME.gp` in its own folder draws the PNG there again, byte for byte. Returns the empty
// string, or a sentence why there is no PNG (no gnuplot, or what it said); script and CSV are there all the same. An old PNG of
// that name is never left beside new data. Throws std::runtime_error if the folder can not be written.
std::string DrawWithGnuplot(const Figure& figure, const std::filesystem::path& folder);

}  // namespace backplane
