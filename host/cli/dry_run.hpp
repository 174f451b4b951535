// What a command would do, without doing it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "batch/resource_pool.hpp"
#include "cli/commands.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Prints the trials, what was dropped by which rule, what each trial is granted, and an estimate of time and memory from the
// results that lie in `out`. Starts nothing and writes nothing.
int DryRun(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args);

// What it prints with --json.
nlohmann::json DryRunJson(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args);

}  // namespace backplane
