// `run --apply`: what a finding of the results' report proposes, as if it had been typed.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/commands.hpp"
#include "contract/experiment.hpp"

namespace backplane {

// The same command with the first change of the finding `args.apply`, of the report on the results in `out`. A change that is
// not swept goes to OUT_try, as the printed `try` lines have it. Absent after it was said what is missing.
std::optional<RunArgs> WithFinding(const RunArgs& args, const Experiment& experiment, const std::filesystem::path& out);

}  // namespace backplane
