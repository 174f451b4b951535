// plan.jsonl: the trials of a batch, fixed when it starts. One object per line: the trials in their planned order, then the
// points that were dropped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/fields.hpp"
#include "record/trial_result.hpp"

namespace backplane {

// "lr=0.1" and "first" are "lr=0.1 first"; either may be empty.
inline std::string NameWithStage(const std::string& name, const std::string& stage) {
  return name + (name.empty() || stage.empty() ? "" : " ") + stage;
}
// The name shared by all points of one chain.
inline std::string NameWithoutStage(const std::string& name, const std::string& stage) {
  const size_t own = stage.empty() ? name.size() : name.size() - stage.size();
  return name.substr(0, own > 0 && !stage.empty() ? own - 1 : own);
}

struct PlanLine {
  std::vector<std::pair<std::string, nlohmann::json>> values;  // by path that sweep or stages name, in the file's order
  // Trials only; empty if dropped.
  std::string trial_id, point_id, name;  // name: of the point
  std::string stage, after;              // after: the trial whose learner state it starts from; empty: none
  uint64_t seed = 0;
  std::optional<uint64_t> number;            // of the search's suggestion; absent: not suggested by a search
  bool confirms = false;                     // with a seed that the search did not use
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the file named there
  std::optional<Budget> budget;              // of a trial that may have had, or may get, a different one; absent: it cannot
  std::optional<Budget> schedule_budget;     // read by the learner's schedules instead
  std::string why;                           // trials: the file's reason for the point; dropped points: details of the rule
  // Dropped points only.
  bool dropped = false;
  std::string rule;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("dropped", LeftOutIfEmpty(self.dropped));
    if (self.dropped) {
      visit("values", self.values);
      visit("rule", self.rule);
      visit("why", self.why);
      return;
    }
    visit("trial_id", self.trial_id);
    visit("point_id", self.point_id);
    visit("name", self.name);
    visit("seed", self.seed);
    visit("values", self.values);
    visit("files", self.files);
    visit("phase", LeftOutIfEmpty(self.stage));  // key kept from version 0.1
    visit("after", LeftOutIfEmpty(self.after));
    visit("number", self.number);
    visit("confirms", LeftOutIfEmpty(self.confirms));
    visit("budget", self.budget);
    visit("schedule_budget", self.schedule_budget);
    visit("why", LeftOutIfEmpty(self.why));
  }
};

}  // namespace backplane
