#include "supervise/check_choice.hpp"

#include <set>

namespace backplane {
namespace {

// What names the plugin in a swept value: the value itself or, of a whole mapping, its `plugin`.
std::string PluginIn(const std::string& path, const nlohmann::json& value) {
  if (path == "env.plugin" || path == "learner.plugin" || path == "learner.command") return value.dump();
  if (path != "env" && path != "learner") return "";
  return value.is_object() && value.contains("plugin") ? value["plugin"].dump() : value.dump();
}

// The first trial of each point.
std::vector<size_t> OneOfEachPoint(const Plan& plan, const std::vector<size_t>& trials) {
  std::set<size_t> points;
  std::vector<size_t> first;
  for (const size_t trial : trials) {
    if (points.insert(plan.trials[trial].point).second) first.push_back(trial);
  }
  return first;
}

}  // namespace

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

std::vector<size_t> TrialsToCheck(const Plan& plan, const std::vector<size_t>& trials) {
  std::vector<size_t> first = OneOfEachPoint(plan, trials);
  if (first.size() <= kAllPoints) return first;
  std::set<std::string> seen;
  std::vector<size_t> chosen;
  for (const size_t trial : first) {
    const PlannedPoint& point = plan.points[plan.trials[trial].point];
    bool fresh = seen.insert(PairOf(plan, plan.trials[trial])).second;
    for (const auto& [path, value] : point.values) fresh = seen.insert(path + "=" + value.dump()).second || fresh;
    if ((fresh || point.listed) && chosen.size() < kMostPoints) chosen.push_back(trial);
  }
  return chosen;
}

}  // namespace backplane
