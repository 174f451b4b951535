// "Where the time goes": a section that every kind of report has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds/timed_row.hpp"
#include "render/document.hpp"

namespace backplane {

// Above this share of the main thread's time outside any phase, the report shows a warning.
inline constexpr double kUnnamedPct = 2;

// Includes the time figure and the phases figure if they are among `figures`. Tables: shares, CPU and GPU use per group, single
// phases.
Section TimeSection(const Combined& combined, const std::vector<TimedRow>& rows, const std::vector<Figure>& figures);
inline constexpr char kTimeFigure[] = "time_shares";
// One bar of 100 % per row. Absent if no trial recorded shares.
std::optional<Figure> TimeFigure(const Combined& combined, const std::vector<TimedRow>& rows);

}  // namespace backplane
