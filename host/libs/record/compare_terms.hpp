// `compare:` of an experiment file but for its arms: what is compared, and when it is known.
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

// Scores of each arm: trials that differ in nothing but their seed, or, of speeds, blocks of two of them (A B B A).
struct CompareLooks {
  static constexpr uint64_t kDefaultScores = 5, kDefaultMost = 5;
  static constexpr uint64_t kMostOfNothing = 2;  // looks all of whose blocks were set aside: the next ones would be, too

  std::optional<uint64_t> n;    // in a look; absent: 5, or as many as the first look needs to tell arms apart
  uint64_t max = kDefaultMost;  // looks at most

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("n", self.n);
    visit("max", DefaultIfMissing(self.max));
  }
};

// One of several tasks that every arm has, and which scores there are 0 and 1 on the scale of all tasks.
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
  std::optional<std::string> metric;     // absent: eval/return where there are evaluations, else return
  std::optional<std::string> direction;  // "up" or "down": what is better; absent: the measure's own
  std::optional<std::string>
      margin;  // "5%" of the first arm's mean: a smaller difference does not matter; absent: every one does
  CompareLooks looks;
  double alpha = 0.05;             // how often equal arms may be told apart, all pairs on all tasks together
  std::vector<CompareTask> tasks;  // empty: the arms have the one of the experiment

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

// Whether a measure is of the machine as much as of the arms: then these take turns in blocks.
inline bool IsOfSpeed(std::string_view measure) {
  constexpr std::array kOfSpeed = {"SPS",       "sampling_sps",        "wall_s", "minutes", "iteration_s",
                                   "attempt_s", "seconds_per_episode", "cpu_s"};
  return std::ranges::any_of(kOfSpeed, [&](std::string_view name) { return name == measure; });
}
inline bool IsOfSpeed(const CompareTerms& terms) { return terms.metric && IsOfSpeed(*terms.metric); }

// "run", or "compare": what starts the experiment of this configuration.
inline const char* CommandOfExperiment(const nlohmann::json& config) { return config.contains("compare") ? "compare" : "run"; }

}  // namespace backplane
