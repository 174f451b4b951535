// `gate save`: saves the baseline that later versions are compared with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/gate_baseline.hpp"

namespace backplane {

struct GateSaveArgs {
  std::filesystem::path out, to;
  std::string typed_program;
  bool no_plugins = false;
};
int GateSave(const GateSaveArgs& args);

// A sentence: seeds per side with which `condition`, a limit of 5 % of `measure`, passes 80 % of the changes without effect.
// Empty if unknown, because a score is missing or all are equal.
std::string SeedsThatHelp(const std::string& measure, const std::string& condition, const std::vector<TrialMeasures>& trials);

// The reason why this baseline's plugin files cannot run. Empty: they are in the folder of `gate save`.
std::string WhyNotKept(const std::filesystem::path& file, const GateBaseline& baseline);

}  // namespace backplane
