// Runs a comparison look by look until the verdict is known.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "input/run_args.hpp"
#include "record/planned_run.hpp"

namespace backplane {

struct Looks {
  const RunArgs& run;
  std::string same;  // the command as it was typed
  uint64_t first = 1, most = 1;
  std::function<PlannedRun(uint64_t looks)> plan;        // of so many looks
  std::function<std::optional<std::string>()> standing;  // a line to print; absent: the answer is known
};

// Absent: the answer is known, or all looks were taken; else the exit code with which it could not go on.
std::optional<int> RunLooks(const Looks& looks);

// How many trials of each point a folder has in its plan.
uint64_t TrialsOfAPoint(const std::filesystem::path& out);

// What looks would run, and that nothing is wrong with it: on the screen, or with --json into `preview`. Starts nothing and
// writes nothing.
int DryRunOfLooks(const PlannedRun& planned, const RunArgs& run, nlohmann::json* preview);

}  // namespace backplane
