// The terms in `compare:` of an experiment file, without its arms: the metric, its margin and the stopping rule.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// Scores per arm: trials that differ only in their seed, or, for speeds, blocks of two of them (A B B A).
struct CompareLooks {
  static constexpr uint64_t kDefaultScores = 5, kDefaultMost = 5;
  static constexpr uint64_t kMostOfNothing = 2;  // looks without a usable block; further looks would not have one either

  std::optional<uint64_t> n;    // per look; absent: 5, or as many as a first look needs to separate arms
  uint64_t max = kDefaultMost;  // maximum number of looks

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("n", self.n);
    visit("max", DefaultIfMissing(self.max));
  }
};

// A task of all arms, with the scores that count as 0 and 1 on the common scale of all tasks.
struct CompareTask {
  std::string name;
  std::vector<double> reference;  // {worst, best}

  double Normalised(double score) const { return (score - reference[0]) / (reference[1] - reference[0]); }
  // 1 up is better, -1 down.
  int direction() const { return reference[1] > reference[0] ? 1 : -1; }
  bool operator==(const CompareTask&) const = default;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("reference", self.reference);
  }
};

// Names the point of an arm on a task, "ARM on TASK", and splits such a name. No task has " on " in its name.
inline constexpr std::string_view kOnTask = " on ";
inline std::string NameOnTask(const std::string& arm, const std::string& task) { return arm + std::string(kOnTask) + task; }
struct ArmOnTask {
  std::string arm, task;
};
inline ArmOnTask SplitOnTask(const std::string& name) {
  const size_t at = name.rfind(kOnTask);
  if (at == std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + kOnTask.size())};
}

struct CompareTerms {
  std::optional<std::string> metric;     // absent: eval/return if there are evaluations, else return
  std::optional<std::string> direction;  // "up" or "down" is better; absent: the measure's own direction
  std::optional<std::string> margin;     // "5%" of the first arm's mean: smaller differences do not matter; absent: all do
  CompareLooks looks;
  double alpha = 0.05;             // probability that any pair of equal arms on any task is declared different
  std::vector<CompareTask> tasks;  // empty: the arms share the experiment's task

  std::optional<double> margin_pct() const {
    return margin ? std::optional(std::strtod(margin->c_str(), nullptr)) : std::nullopt;
  }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("metric", self.metric);
    visit("direction", self.direction);
    visit("margin", self.margin);
    visit("looks", DefaultIfMissing(self.looks));
    visit("alpha", DefaultIfMissing(self.alpha));
    visit("tasks", LeftOutIfEmpty(self.tasks));
  }
};

// True if a measure depends on the machine as much as on the arms, so that arms must alternate in blocks.
inline bool IsOfSpeed(std::string_view measure) {
  constexpr std::array kOfSpeed = {"SPS",       "sampling_sps",        "wall_s", "minutes", "iteration_s",
                                   "attempt_s", "seconds_per_episode", "cpu_s"};
  return std::ranges::any_of(kOfSpeed, [&](std::string_view name) { return name == measure; });
}
inline bool IsOfSpeed(const CompareTerms& terms) { return terms.metric && IsOfSpeed(*terms.metric); }

// "run" or "compare": the command for an experiment with this configuration.
inline const char* CommandOfExperiment(const nlohmann::json& config) { return config.contains("compare") ? "compare" : "run"; }

}  // namespace backplane
