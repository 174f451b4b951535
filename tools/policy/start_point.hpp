// The checkpoint from which a replay reaches an iteration soonest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "record/results_folder.hpp"

namespace backplane {

struct StartPoint {
  std::filesystem::path file;  // empty: the trial's start
  uint64_t iterations = 0;     // complete before it
};

// Chooses among all checkpoints that are still in the trial's folder, except damaged ones.
StartPoint NearestBefore(const TrialFolder& trial, uint64_t iteration);

// The time that the trial took for the iterations after `from` up to `to`, by its metrics. Absent: not recorded.
std::optional<double> SecondsOf(const TrialFolder& trial, uint64_t from, uint64_t to);

}  // namespace backplane
