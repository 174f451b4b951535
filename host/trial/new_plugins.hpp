// Before a trial loads plugin files, tries those that were never validated. backplane-validate, next to this program, runs the
// fast cases.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "contract/trial_spec.hpp"
#include "plugin/validated_files.hpp"
#include "record/broken_rules.hpp"

namespace backplane {

struct TriedPlugins {
  std::vector<BrokenRule> broken;
  std::string not_tried;  // a sentence with the reason; empty: all were tried
};

// Starts no program if all plugin files of these trials are known, or BACKPLANE_VALIDATE is off. Call it before a plugin is
// loaded.
TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled);

// The same with a different program and other records.
struct PluginTrier {
  std::filesystem::path program;
  const ValidatedFiles& files;
  std::chrono::milliseconds limit;
};
TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled, const PluginTrier& by);

}  // namespace backplane
