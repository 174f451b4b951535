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
  std::string same;  // the command as typed
  uint64_t first = 1, most = 1;
  std::function<PlannedRun(uint64_t looks)> plan;        // the plan with that many looks
  std::function<std::optional<std::string>()> standing;  // a line to print; absent: the answer is known
};

// Absent if the answer is known or no look is left; else the exit code of the failed run.
std::optional<int> RunLooks(const Looks& looks);

// Number of trials per point in a folder's plan.
uint64_t TrialsOfAPoint(const std::filesystem::path& out);

// Checks the looks and prints the trials they would run, on the screen, or with --json into `preview`. Starts and writes
// nothing.
int DryRunOfLooks(const PlannedRun& planned, const RunArgs& run, nlohmann::json* preview);

}  // namespace backplane
