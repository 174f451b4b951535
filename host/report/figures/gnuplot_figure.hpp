// Draws a figure with gnuplot as a subprocess.
#pragma once

#include <filesystem>
#include <string>

#include "figures/figure.hpp"

namespace backplane {

// Writes `folder`/figures/NAME.gp and NAME.csv (one file for all panels; the cells of tables stand in the script), runs gnuplot
// and puts NAME.png into `folder`. The script works by itself: `gnuplot NAME.gp` in its own folder draws the PNG there, beside
// the script, byte for byte the same. Returns the empty string, or a sentence why there is no PNG (no gnuplot, or what it
// said); script and CSV are there all the same. An old PNG of that name is never left beside new data.
//
// Drawn with DejaVu Sans: a character that it lacks (Hangul) is a square in the PNG, and itself in the CSV and the HTML report.
// Throws std::runtime_error if the folder can not be written, or if the figure's name is no plain file name.
std::string DrawWithGnuplot(const Figure& figure, const std::filesystem::path& folder);

}  // namespace backplane
