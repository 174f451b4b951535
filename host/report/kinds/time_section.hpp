// "Where the time goes": a section that every kind of report has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

// What a report compares: a setting, a point.
struct TimedRow {
  std::string name;
  std::vector<size_t> trials;  // indices into Combined::trials
};

// Beyond this much of the main thread's time in no phase a report says so.
inline constexpr double kUnnamedPct = 2;

// A figure of shares; tables of shares, of the use of processors and GPUs in each group, and of single phases.
Section TimeSection(const Combined& combined, const std::vector<TimedRow>& rows);
inline constexpr char kTimeFigure[] = "time_shares";
// One bar of 100 % for each row; absent where no trial tells shares.
std::optional<Figure> TimeFigure(const Combined& combined, const std::vector<TimedRow>& rows);

}  // namespace backplane
