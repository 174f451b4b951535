// `run --apply`: applies the change that a finding proposes, as if you had typed it.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/commands.hpp"
#include "contract/experiment.hpp"

namespace backplane {

// Returns the same command with the first change of the finding `args.apply`, from the report of the results in `out`. A change
// outside the sweep runs in OUT_try, like the printed `try` lines. Prints the error and returns nothing if it fails.
std::optional<RunArgs> WithFinding(const RunArgs& args, const Experiment& experiment, const std::filesystem::path& out);

}  // namespace backplane
