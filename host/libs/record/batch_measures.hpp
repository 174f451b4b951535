// `backplane-report --measures`: the metrics of all trials in a results folder, for commands that process them further.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fix.hpp"
#include "record/trial_state.hpp"

namespace backplane {

struct MeasuresRequest {
  std::string out;
  std::string measure;    // whose direction to return; empty: none
  bool diagnose = false;  // diagnose each point separately, as if there were no sweep

  static void Fields(auto& self, auto&& visit) {
    visit("out", self.out);
    visit("measure", self.measure);
    visit("diagnose", self.diagnose);
  }
};

struct TrialMeasures {
  std::string point;  // name to type; empty if it is the only point
  std::string name;   // display name of the point
  uint64_t seed = 0;
  TrialState state = TrialState::kPlanned;
  std::optional<Outcome> outcome;  // absent: it has not run
  std::string why;
  bool usable = false, has_run = false;
  std::map<std::string, double> values;  // by the names of tools/report/results/result_set.hpp; NaN: not finite

  // NULL if it was not measured.
  const double* Find(const std::string& measure) const {
    const auto found = values.find(measure);
    return found == values.end() ? nullptr : &found->second;
  }
  static void Fields(auto& self, auto&& visit) {
    visit("point", self.point);
    visit("name", self.name);
    visit("seed", self.seed);
    visit("state", self.state);
    visit("outcome", self.outcome);
    visit("why", self.why);
    visit("usable", self.usable);
    visit("has_run", self.has_run);
    visit("values", self.values);
  }
};

struct PointDiagnosis {
  std::string point;
  std::vector<Proposal> proposals;  // of its findings, the gravest first
  bool busy = false;                // other programs used the cores: times are meaningless

  static void Fields(auto& self, auto&& visit) {
    visit("point", self.point);
    visit("proposals", self.proposals);
    visit("busy", self.busy);
  }
};

struct BatchMeasures {
  std::vector<TrialMeasures> trials;  // in the plan's order
  int64_t direction = 0;              // of the measure: 1 up is better, -1 down, 0 unknown
  bool is_of_host = false;            // the host itself measures it
  std::vector<PointDiagnosis> points;

  static void Fields(auto& self, auto&& visit) {
    visit("trials", self.trials);
    visit("direction", self.direction);
    visit("is_of_host", self.is_of_host);
    visit("points", self.points);
  }
};

}  // namespace backplane
