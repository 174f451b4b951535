// The preview of a run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "batch/resource_pool.hpp"
#include "cli/commands.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Prints the trials and their resources, dropped points with their rules, and an estimate of time and memory from the results
// in `out`. Starts and writes nothing.
int DryRun(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args);

// The output of --json.
nlohmann::json DryRunJson(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args);

}  // namespace backplane
