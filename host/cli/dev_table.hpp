// What `dev` shows of a build beside the one before.
#pragma once

#include <optional>
#include <string>

#include "record/status_file.hpp"
#include "record/trial_result.hpp"

namespace backplane {

// Of a build's trial; absent: not measured.
struct BuildMeasures {
  unsigned build = 0;
  std::optional<double> iterations, steps_per_s, episode_return, evaluation, floor_zero, floor_uniform;
};

// What result.json tells and, of a trial that left none, its status.
BuildMeasures MeasuresOf(unsigned build, const TrialResult& result, const std::optional<StatusFile>& status);

// Lines that end with a line feed, a row for each measure that one of the two has; `before` NULL: of `now` alone.
std::string FormatBuilds(const BuildMeasures* before, const BuildMeasures& now);
// How that table begins, as long as the build has no numbers: its heading and a first row.
std::string FormatRunning(const BuildMeasures* before, unsigned build);

}  // namespace backplane
