#include "results/series.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/json_path.hpp"
#include "base/json_text.hpp"
#include "results/labels.hpp"
#include "text/short_names.hpp"

namespace backplane {
namespace {

using nlohmann::json;

using Paths = std::set<std::string>;

constexpr std::array kWithinSeries = {"seed", kRunnersPath, kRowsPath};

bool IsAtOrBelow(const std::string& path, const std::string& top) { return path == top || path.starts_with(top + "."); }

// The user wants to compare swept paths, whatever their scope.
bool IsSwept(const std::string& path, const TrialData& trial) {
  return std::any_of(trial.values.begin(), trial.values.end(),
                     [&](const auto& value) { return IsAtOrBelow(path, value.first) || IsAtOrBelow(value.first, path); });
}

// The learner's device changes times; the resources name it.
std::string DeviceKind(const TrialData& trial) {
  const json gpus = trial.At("resources.gpus");
  return trial.gpus > 0 || (gpus.is_number() && gpus > 0) ? "cuda" : "cpu";
}

// Removes keys that do not affect scores. A preset's values appear at their own paths. Absent keys are ignored: unstarted
// trials have the batch's configuration, and older programs lack newer keys.
void KeepIdentity(const TrialData& trial, const Paths& outside_identity, const std::string& prefix, json* config) {
  for (auto entry = config->begin(); entry != config->end();) {
    const std::string path = prefix + entry.key();
    const bool goes = outside_identity.contains(path) && !IsSwept(path, trial);
    if (!goes && entry->is_object()) KeepIdentity(trial, outside_identity, path + ".", &*entry);
    const bool is_empty = entry->is_null() || (entry->is_object() && entry->empty());
    entry = goes || is_empty ? config->erase(entry) : std::next(entry);
  }
}

using Names =
    std::map<std::pair<std::string, std::string>, std::string>;  // plugins by path in the configuration and hash of their file

bool IsFile(const std::string& plugin) { return plugin.find('/') != std::string::npos; }

Names NamesOfPlugins(const Combined& combined) {
  Names names;
  for (const CombinedTrial& trial : combined.trials) {
    for (const auto& [place, hash] : trial.data.files) {
      const json plugin = trial.data.At(place);
      if (plugin.is_string() && !IsFile(plugin)) names[{place, hash}] = plugin;
    }
  }
  return names;
}

// Replaces file paths of plugins by names: the same plugin may be named either way.
void CallPluginsByName(const TrialData& trial, const Names& names, json* config) {
  for (const auto& file : trial.files) {
    const json plugin = AtPath(*config, file.first);
    const auto name = names.find(file);
    if (name != names.end() && plugin.is_string() && IsFile(plugin) && !IsSwept(file.first, trial))
      SetAtPath(config, file.first, name->second);
  }
}

json SeriesConfig(const TrialData& trial, const Names& names, const Paths& outside_identity) {
  json config = trial.config.is_object() ? trial.config : json::object();
  for (const char* path : kWithinSeries) RemoveAtPath(&config, path);
  CallPluginsByName(trial, names, &config);
  KeepIdentity(trial, outside_identity, "", &config);
  config["device"] = DeviceKind(trial);
  return config;
}

std::string Plain(const json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); }

void AddLeaves(const json& config, const std::string& prefix, std::vector<std::pair<std::string, std::string>>* leaves) {
  for (const auto& [key, value] : config.items()) {
    if (value.is_object()) {
      AddLeaves(value, prefix + key + ".", leaves);
    } else {
      leaves->emplace_back(prefix + key, Plain(value));
    }
  }
}

// Sorts differences by interest: plugins, swept paths, the rest.
int Rank(const std::string& path, const std::set<std::string>& swept) {
  const bool is_swept = std::any_of(swept.begin(), swept.end(), [&](const std::string& top) { return IsAtOrBelow(path, top); });
  return path.ends_with(".plugin") ? 0 : is_swept ? 1 : 2;
}

std::vector<std::string> Labels(const std::vector<json>& configs, const std::set<std::string>& swept) {
  std::vector<Traits> all;
  for (const json& config : configs) {
    AddLeaves(config, "", &all.emplace_back());
    std::stable_sort(all.back().begin(), all.back().end(),
                     [&](const auto& a, const auto& b) { return Rank(a.first, swept) < Rank(b.first, swept); });
  }
  const std::vector<std::string> paths = DifferingTraits(all), names = ShortNames(paths, {});
  std::map<std::string, std::string> short_names;
  for (size_t i = 0; i < paths.size(); ++i) short_names[paths[i]] = names[i];
  for (Traits& traits : all) {
    std::erase_if(traits, [&](const auto& one) { return !short_names.contains(one.first); });
    for (auto& [path, value] : traits) path = short_names[path];
  }
  return LabelsOf(all);
}

}  // namespace

SeriesOfTrials FindSeries(const Combined& combined, const Paths& outside_identity) {
  SeriesOfTrials found;
  std::map<std::pair<size_t, std::string>, size_t> known;  // by group and configuration
  std::map<std::string, size_t> number_of;                 // series number of a configuration, in any group
  std::vector<json> configs;
  std::vector<size_t> config_of;  // [series]
  std::set<std::string> swept;
  const Names names = NamesOfPlugins(combined);
  for (const CombinedTrial& trial : combined.trials) {
    for (const auto& [path, value] : trial.data.values) swept.insert(path);
    json config = SeriesConfig(trial.data, names, outside_identity);
    const std::string text = config.dump();
    const auto [series, is_new] = known.emplace(std::pair(trial.group, text), found.series.size());
    found.of.push_back(series->second);
    if (!is_new) continue;
    found.series.push_back({"", trial.group, std::nullopt, ""});
    const auto [number, is_first] = number_of.emplace(text, configs.size());
    config_of.push_back(number->second);
    if (is_first) configs.push_back(std::move(config));
  }
  const std::vector<std::string> labels = Labels(configs, swept);
  for (size_t i = 0; i < found.series.size(); ++i) {
    const std::string& group = combined.groups.at(found.series[i].group).label;
    const std::string& label = labels[config_of[i]];
    found.series[i].label = group + (group.empty() || label.empty() ? "" : ", ") + label;
  }
  return found;
}

}  // namespace backplane
