// A change that a finding proposes, to be tested for speed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/fix.hpp"

namespace backplane {

struct Change {
  std::string finding, why;  // id and title of the finding
  Fix fix;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("finding", self.finding);
    visit("path", self.fix.path);
    visit("from", self.fix.from);
    visit("to", self.fix.to);
    visit("also", self.fix.also);
  }
};

// True if two changes give the experiment the same values, regardless of earlier values and of the proposing finding.
bool IsSame(const Change& a, const Change& b);

// Changes proposed by findings about speed, in order and without duplicates: values of env, learner, rollout and resources.
// Findings about memory or learning do not aim at speed; budgets and numbers of seeds are no settings.
std::vector<Change> SpeedChangesOf(const std::vector<Proposal>& findings);

// True if learning may differ, because the change belongs to a trial's identity. Threads and cores do not.
bool CanChangeLearning(const Change& change);

// `config` as an experiment file has it.
void Apply(const Change& change, nlohmann::json* config);

// Values of all changes, each path once; later changes override earlier ones.
std::vector<std::pair<std::string, nlohmann::json>> ValuesOf(const std::vector<Change>& changes);

}  // namespace backplane
