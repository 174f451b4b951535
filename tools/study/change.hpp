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

// Whether two changes give the experiment the same values, whatever it had before and whoever proposes it.
bool IsSame(const Change& a, const Change& b);

// What findings about speed propose, in their order and each change once: values of env, learner, rollout and resources. What a
// finding about memory or about the learning proposes is not meant to be faster, and a budget or a number of seeds is no
// setting.
std::vector<Change> SpeedChangesOf(const std::vector<Proposal>& findings);

// Whether what is learned may differ: the change is of something that belongs to a trial's identity. Threads and cores do not.
bool CanChangeLearning(const Change& change);

// `config` as an experiment file has it.
void Apply(const Change& change, nlohmann::json* config);

// Of all changes, later ones over earlier ones: each path once.
std::vector<std::pair<std::string, nlohmann::json>> ValuesOf(const std::vector<Change>& changes);

}  // namespace backplane
