#include "supervise/pair_check.hpp"

namespace backplane {
namespace {

// What names the plugin in a swept value: the value itself or, of a whole mapping, its `plugin`.
std::string PluginIn(const std::string& path, const nlohmann::json& value) {
  if (path == "env.plugin" || path == "learner.plugin") return value.dump();
  if (path != "env" && path != "learner") return "";
  return value.is_object() && value.contains("plugin") ? value["plugin"].dump() : value.dump();
}

// The files, and the names too: one file may hold several plugins.
std::string PairOf(const Plan& plan, const PlannedTrial& trial) {
  std::string key;
  for (const char* file : {"env.plugin", "learner.plugin"}) {
    const auto found = trial.files.find(file);
    key += (found == trial.files.end() ? "" : found->second) + " ";
  }
  for (const auto& [path, value] : plan.points[trial.point].values) key += PluginIn(path, value) + " ";
  return key;
}

}  // namespace

std::map<std::string, std::vector<size_t>> PairsOf(const Plan& plan) {
  std::map<std::string, std::vector<size_t>> pairs;
  for (size_t i = 0; i < plan.trials.size(); ++i) pairs[PairOf(plan, plan.trials[i])].push_back(i);
  return pairs;
}

bool FitsNever(const Verdict& verdict) {
  return verdict.outcome == "config" || verdict.outcome == "plugin" || verdict.outcome == "signal";
}

}  // namespace backplane
