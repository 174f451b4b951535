// Changes from the last run of the same file, which `--fresh` kept as OUT.1, OUT.2, ...
#pragma once

#include <filesystem>
#include <optional>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// The newest of those; absent: there is none of this experiment.
std::optional<std::filesystem::path> LastRunOf(const ResultSet& set);

// Return, speed and memory of the points that both have, with intervals; and a sentence for the verdict. Nothing where they
// have no measure in common.
struct AgainstLastRun {
  Section section;
  std::string sentence;
};
std::optional<AgainstLastRun> CompareWithLastRun(const ResultSet& now, const ResultSet& then);

}  // namespace backplane
