// Tries the plugin files that were never validated, before a trial loads them. backplane-validate, the program next to this
// one, runs the cases that take a moment.
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
  std::string not_tried;  // a sentence with the reason; empty: all of them were tried
};

// No program is started if all plugin files of these trials are known, or BACKPLANE_VALIDATE is off. To be called before a
// plugin is loaded.
TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled);

// The same with another program and other records.
struct PluginTrier {
  std::filesystem::path program;
  const ValidatedFiles& files;
  std::chrono::milliseconds limit;
};
TriedPlugins TryNewPlugins(const std::vector<TrialSpec>& specs, const std::atomic<bool>& cancelled, const PluginTrier& by);

}  // namespace backplane
