// plan.jsonl: what the experiment file stands for, as a batch was started with it. One object per line: the trials in the order
// in which they should run, then the points that were dropped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// "lr=0.1" and "first" are "lr=0.1 first"; either may be empty.
inline std::string NameWithStage(const std::string& name, const std::string& stage) {
  return name + (name.empty() || stage.empty() ? "" : " ") + stage;
}
// What the points of one chain have in common.
inline std::string NameWithoutStage(const std::string& name, const std::string& stage) {
  const size_t own = stage.empty() ? name.size() : name.size() - stage.size();
  return name.substr(0, own > 0 && !stage.empty() ? own - 1 : own);
}

struct PlanLine {
  std::vector<std::pair<std::string, nlohmann::json>> values;  // of each path that sweep and stages name, in the file's order
  // Of a trial; empty if dropped.
  std::string trial_id, point_id, name;  // name: of the point
  std::string stage, after;              // after: the trial whose learner it starts from; empty: none
  uint64_t seed = 0;
  std::optional<uint64_t> number;            // of the answer of the search that the point is; absent: it is none
  bool confirms = false;                     // with a seed that the search did not see
  std::map<std::string, std::string> files;  // place in the configuration -> SHA-256 of the file named there
  // Of a point that was dropped.
  bool dropped = false;
  std::string rule, why;

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
    visit("phase", LeftOutIfEmpty(self.stage));  // its name in files since 0.1
    visit("after", LeftOutIfEmpty(self.after));
    visit("number", self.number);
    visit("confirms", LeftOutIfEmpty(self.confirms));
  }
};

}  // namespace backplane
