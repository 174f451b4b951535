#include "results/series.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/json_path.hpp"
#include "base/json_text.hpp"
#include "results/tell_apart.hpp"
#include "store/csv.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// What changes no number that is scored; the values of a preset stand at their own paths. A path of these that the sweep names
// was meant to be compared and counts all the same.
constexpr std::array kLeftOut = {"experiment",          "output",     "report",     "monitors",   "resources",
                                 "plugin_path",         "on_failure", "stop_sweep", "checkpoint", "rollout.threads",
                                 "rollout.pin_threads", "preset"};
constexpr std::array kWithinSeries = {"seed", kRunnersPath, kRowsPath};

bool IsAtOrBelow(const std::string& path, const std::string& top) { return path == top || path.starts_with(top + "."); }

bool IsLeftOut(const std::string& path) {
  return std::any_of(kLeftOut.begin(), kLeftOut.end(), [&](const char* top) { return IsAtOrBelow(path, top); });
}

// On which kind of device the learner ran changes its times, and stands among the resources.
std::string DeviceKind(const TrialData& trial) {
  const json gpus = trial.At("resources.gpus");
  return trial.gpus > 0 || (gpus.is_number() && gpus > 0) ? "cuda" : "cpu";
}

// A key that is not there has no value either: a trial that never started has the batch's configuration, and an older
// program's lacks what came later.
void RemoveNulls(json* config) {
  for (auto entry = config->begin(); entry != config->end();) {
    if (entry->is_object()) RemoveNulls(&*entry);
    entry = entry->is_null() ? config->erase(entry) : std::next(entry);
  }
}

json SeriesConfig(const TrialData& trial) {
  json config = trial.config.is_object() ? trial.config : json::object();
  for (const char* path : kLeftOut) RemoveAtPath(&config, path);
  for (const char* path : kWithinSeries) RemoveAtPath(&config, path);
  for (const auto& [path, value] : trial.values) {
    if (IsLeftOut(path)) SetAtPath(&config, path, value);
  }
  RemoveNulls(&config);
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

// In the order in which a person would name what differs: plugins, then what the sweep names, then the rest.
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

SeriesOfTrials FindSeries(const Combined& combined) {
  SeriesOfTrials found;
  std::map<std::pair<size_t, std::string>, size_t> known;  // by group and configuration
  std::map<std::string, size_t> number_of;                 // of a configuration, whatever its group
  std::vector<json> configs;
  std::vector<size_t> config_of;  // [series]
  std::set<std::string> swept;
  for (const CombinedTrial& trial : combined.trials) {
    for (const auto& [path, value] : trial.data.values) swept.insert(path);
    json config = SeriesConfig(trial.data);
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
