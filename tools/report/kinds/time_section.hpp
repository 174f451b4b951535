// "Where the time goes": a section that every kind of report has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/timed_row.hpp"
#include "render/document.hpp"

namespace backplane {

// Beyond this much of the main thread's time in no phase a report says so.
inline constexpr double kUnnamedPct = 2;

// The figure below and that of phases_figure.hpp, where they are among `figures`; tables of shares, of the use of processors
// and GPUs in each group, and of single phases.
Section TimeSection(const Combined& combined, const std::vector<TimedRow>& rows, const std::vector<Figure>& figures);
inline constexpr char kTimeFigure[] = "time_shares";
// One bar of 100 % for each row; absent where no trial tells shares.
std::optional<Figure> TimeFigure(const Combined& combined, const std::vector<TimedRow>& rows);

}  // namespace backplane
