// The table of `dev` that compares a build with the one before.
#pragma once

#include <optional>
#include <string>

#include "record/status_file.hpp"
#include "record/trial_result.hpp"

namespace backplane {

// Measures of a build's trial; absent if not measured.
struct BuildMeasures {
  unsigned build = 0;
  std::optional<double> iterations, steps_per_s, episode_return, evaluation, floor_zero, floor_uniform;
};

// Read from result.json, or from the status of a trial without one.
BuildMeasures MeasuresOf(unsigned build, const TrialResult& result, const std::optional<StatusFile>& status);

// Lines that end with a line feed, a row for each measure that one of the two has; `before` NULL: of `now` alone.
std::string FormatBuilds(const BuildMeasures* before, const BuildMeasures& now);
// The heading and first row of the table, before the build has numbers.
std::string FormatRunning(const BuildMeasures* before, unsigned build);

}  // namespace backplane
