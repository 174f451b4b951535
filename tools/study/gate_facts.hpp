// Facts of a gate's runs besides the experiment: the machine, versions, and choices made by plugins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/gate_baseline.hpp"

namespace backplane {

// Fills them in from the results in `out`, which has a trial of that id.
void AddFacts(const std::filesystem::path& out, const std::string& trial_id, GateBaseline* baseline);

// Sentences on differences between the trials in `out` and the baseline's, which may move scores although the judged change
// did not.
std::vector<std::string> OtherThanInBaseline(const GateBaseline& baseline, const std::filesystem::path& out);

}  // namespace backplane
