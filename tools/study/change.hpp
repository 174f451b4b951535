// A change of an experiment that a finding proposes, as something to be tried for speed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/fix.hpp"

namespace backplane {

struct Change {
  std::string finding, why;  // its id and its title
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

// Changes that findings about speed propose, in their order and each once: values of env, learner, rollout and resources.
// Findings about memory or learning do not aim at speed, and budgets or numbers of seeds are no settings.
std::vector<Change> SpeedChangesOf(const std::vector<Proposal>& findings);

// True if learning may differ, because the change belongs to a trial's identity. Threads and cores do not.
bool CanChangeLearning(const Change& change);

// `config` as an experiment file has it.
void Apply(const Change& change, nlohmann::json* config);

// Values of all changes, each path once; later changes override earlier ones.
std::vector<std::pair<std::string, nlohmann::json>> ValuesOf(const std::vector<Change>& changes);

}  // namespace backplane
