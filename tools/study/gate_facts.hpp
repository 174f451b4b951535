// Facts of a gate's runs besides the experiment: the machine, versions, and choices made by plugins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/gate_baseline.hpp"

namespace backplane {

// Reads them from the results of this trial in `out`.
void AddFacts(const std::filesystem::path& out, const std::string& trial_id, GateBaseline* baseline);

// Sentences about differences between the trials in `out` and the baseline's that may affect scores independently of the tested
// change.
std::vector<std::string> OtherThanInBaseline(const GateBaseline& baseline, const std::filesystem::path& out);

}  // namespace backplane
