// The results that `gate save` keeps of a batch, to compare later states with them. A folder of the same name next to the file
// contains the plugin files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/batch_measures.hpp"
#include "record/compare_terms.hpp"
#include "record/run_info.hpp"

namespace backplane {

inline constexpr int kGateSchema = 1;
// A baseline below the minimum shows little; the full number allows all looks.
inline constexpr size_t kLeastSeedsOfGate = 10, kFullSeedsOfGate = 25;

struct GateBaseline {
  int schema = kGateSchema;
  std::string experiment;
  std::filesystem::path config_file;         // the experiment file
  nlohmann::json config;                     // of a trial, complete; the seeds are part of the trials
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the file named there
  std::vector<std::string> facts;            // decisions of the plugins
  HostInfo host;
  std::vector<DeviceInfo> devices;
  RunVersions versions;
  std::vector<TrialMeasures> trials;  // one per seed

  static void Fields(auto& self, auto&& visit) {
    visit("schema", self.schema);
    visit("experiment", self.experiment);
    visit("config_file", self.config_file);
    visit("config", self.config);
    visit("files", self.files);
    visit("facts", self.facts);
    visit("host", self.host);
    visit("devices", self.devices);
    visit("versions", self.versions);
    visit("trials", self.trials);
  }

  // The experiment that runs the kept plugin files.
  static std::filesystem::path KeptExperiment(const std::filesystem::path& file) {
    const std::filesystem::path stem = file.extension() == ".json" ? std::filesystem::path(file).replace_extension() : file;
    return stem.string() + ".plugins/baseline.yaml";
  }
};

// Throws std::runtime_error with the missing field.
GateBaseline ReadGateBaseline(const std::filesystem::path& file);

// The number of looks for a baseline with this many seeds, and the scores (for a speed: blocks) per look.
inline CompareLooks LooksOfGate(size_t seeds) {
  const size_t most = std::clamp<size_t>(seeds / CompareLooks::kDefaultScores, 1, CompareLooks::kDefaultMost);
  return {seeds / most, most};
}

}  // namespace backplane
