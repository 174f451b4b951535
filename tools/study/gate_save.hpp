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

// A sentence: the seeds of each side with which `condition`, a limit of 5 % of `measure`, passes 80 % of the changes without
// effect. Empty: unknown, because a score is missing or all are equal.
std::string SeedsThatHelp(const std::string& measure, const std::string& condition, const std::vector<TrialMeasures>& trials);

// Why the plugin files of this baseline cannot be run; empty: they lie where `gate save` keeps them.
std::string WhyNotKept(const std::filesystem::path& file, const GateBaseline& baseline);

}  // namespace backplane
