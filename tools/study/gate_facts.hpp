// With what the trials of a gate ran, beside their experiment: the machine, versions, what plugins decided by themselves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/gate_baseline.hpp"

namespace backplane {

// Fills them in from the results in `out`, which has a trial of that id.
void AddFacts(const std::filesystem::path& out, const std::string& trial_id, GateBaseline* baseline);

// Sentences: in what the trials in `out` ran with something else than the baseline's, so that scores may differ though the
// change that is judged did nothing.
std::vector<std::string> OtherThanInBaseline(const GateBaseline& baseline, const std::filesystem::path& out);

}  // namespace backplane
