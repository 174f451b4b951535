// Quick cases, run before the first trial with a plugin file that was never validated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "contract/trial_spec.hpp"
#include "plugin/validated_files.hpp"
#include "record/broken_rules.hpp"
#include "validate/run_case.hpp"

namespace backplane {

// Runs the cases that fit into about 50 ms of CPU. An instance and its first use, which show the cost of a case, come in
// addition. If no instance can be made, the trial will report that. `complete`: some were tried, none took too long, and no
// signal stopped them.
std::vector<CaseResult> RunFastCases(const PluginInfo& info, const ValidateSetting& setting, bool* complete = nullptr);

// The plugins of these trials, each file once, with the options of the first trial that has it, as long as they are not known
// to keep the rules. Those that do are known from now on. To be called before anything of the trials is loaded: each is tried
// in a process of its own.
std::vector<BrokenRule> FindBrokenRules(const std::vector<TrialSpec>& specs, const ValidatedFiles& files);

}  // namespace backplane
