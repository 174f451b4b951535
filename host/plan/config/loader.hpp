// Reads an experiment file: YAML, base files, --set, checks against the plugins' option tables, defaults. Reports all errors
// together, each with its place, and runs no plugin code.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/preset_search.hpp"
#include "contract/experiment.hpp"
#include "plugin/plugin_info.hpp"
#include "record/report_check.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// Finds a plugin by kind and by its name in the file (an id without its kind, or a path). Returns NULL, with the reason in
// `why_not`, if it cannot be used. `plugin_path` holds the file's own plugin_path entries, absolute.
using PluginLookup = std::function<const PluginInfo*(
    uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>& plugin_path, std::string* why_not)>;

// Checks `report:`. Empty: no check.
using ReportCheck = std::function<std::vector<ReportError>(const ReportConfig&)>;

// Defaults of host keys by path, which replace the table's: {{"resources.gpus", 1.0}}.
using KeyDefaults = std::map<std::string, nlohmann::json>;

struct LoadOptions {
  std::vector<std::string> set;  // "path=value" and "+path=value"
  PluginLookup lookup;
  PresetSearch presets = {};
};

struct LoadedExperiment {
  Experiment experiment;
  std::map<std::string, std::string> origin;  // "learner.options.lr" -> "walk.yaml:12:5", "--set", or absent for a default
  std::vector<std::string> notes;             // sentences for the user that are no errors
  uint64_t seeds = 1;                         // trials of its point, which share report.max_time
  std::string start_sha256;                   // of learner.start_from, once the trial is planned; empty: none
  std::filesystem::path folder;               // of the file in which its command stands; empty: it has none
  // Shared: a sweep loads thousands of experiments with the same plugins. Never NULL after loading.
  std::shared_ptr<const PluginInfo> env, learner;
  std::vector<std::shared_ptr<const PluginInfo>> wrappers, monitors;
};

struct LoadResult {
  std::optional<LoadedExperiment> loaded;  // set only if there are no errors
  std::vector<Diagnostic> errors;          // in file order
};

// A `sweep:` and `stages:` in the file are not looked at: this is the experiment without it. MakePlan (sweep/plan.hpp) reads
// all.
LoadResult LoadExperiment(const std::filesystem::path& file, const LoadOptions& options);

}  // namespace backplane
