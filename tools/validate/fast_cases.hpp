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

// Runs the cases that fit into about 50 ms of CPU, plus an instance and its first use, which measure a case's cost. If no
// instance can be created, the trial will report that. `complete`: at least one case ran, none took too long, and no signal
// stopped them.
std::vector<CaseResult> RunFastCases(const PluginInfo& info, const ValidateSetting& setting, bool* complete = nullptr);

// Tests the plugins of these trials, each file once with its first trial's options, unless it is known to keep the rules.
// Passing files become known. Call it before any of the trials' plugins is loaded: each test runs in its own process.
std::vector<BrokenRule> FindBrokenRules(const std::vector<TrialSpec>& specs, const ValidatedFiles& files);

}  // namespace backplane
