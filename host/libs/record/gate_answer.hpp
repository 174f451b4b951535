// `backplane-report --gate`: the position of a change relative to the gate's limits, as far as the trials show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"

namespace backplane {

// "eval/return < -5%": fails if the change from the baseline is below -5 % of it.
struct GateCondition {
  std::string measure;  // or an expression of measures
  bool below = true;    // fails if the change is below, else if it is above
  double percent = 0;
  bool speed = false;  // depends on the machine too, so both sides run in turn

  static void Fields(auto& self, auto&& visit) {
    visit("measure", self.measure);
    visit("below", self.below);
    visit("percent", self.percent);
    visit("speed", self.speed);
  }
};

struct GateRequest {
  std::string baseline;        // its file
  std::string folder;          // of results
  bool runs_baseline = false;  // the first of the folder's two points is the baseline, run again
  std::vector<GateCondition> conditions;
  std::optional<CompareLooks> looks;  // absent: all scores that there are, once
  double alpha = 0.05;                // of each side of each condition

  static void Fields(auto& self, auto&& visit) {
    visit("baseline", self.baseline);
    visit("folder", self.folder);
    visit("runs_baseline", self.runs_baseline);
    visit("conditions", self.conditions);
    visit("looks", NullIfAbsent(self.looks));
    visit("alpha", self.alpha);
  }
};

// The worst last.
enum class GateVerdict { kPass = 1, kUndecided, kInvalid, kFail };

constexpr auto WordsOf(GateVerdict) {
  return std::to_array<WordOf<GateVerdict>>({{GateVerdict::kPass, "pass"},
                                             {GateVerdict::kUndecided, "undecided"},
                                             {GateVerdict::kInvalid, "invalid"},
                                             {GateVerdict::kFail, "fail"}});
}

struct GateJudgement {
  GateCondition condition;
  GateVerdict verdict = GateVerdict::kUndecided;
  bool decided = false;                                 // no further look is needed or left
  std::string sentence;                                 // "FAIL: the change of ..."
  uint64_t looks = 0, n = 0;                            // looks so far; scores per side, or blocks
  std::optional<double> change_pct, low_pct, high_pct;  // the interval covers both sides together
  double level_pct = 0;                                 // coverage of the interval
  std::optional<uint64_t> needed;                       // scores per side, or blocks, for a change like the observed one
  std::vector<std::string> notes;                       // sentences

  static void Fields(auto& self, auto&& visit) {
    visit("condition", self.condition);
    visit("verdict", self.verdict);
    visit("decided", self.decided);
    visit("sentence", self.sentence);
    visit("looks", self.looks);
    visit("n", self.n);
    visit("change_pct", self.change_pct);
    visit("low_pct", self.low_pct);
    visit("high_pct", self.high_pct);
    visit("level_pct", self.level_pct);
    visit("needed", self.needed);
    visit("notes", self.notes);
  }
};

struct GateAnswer {
  std::vector<GateJudgement> conditions;  // in the order of the request

  static void Fields(auto& self, auto&& visit) { visit("conditions", self.conditions); }
};

}  // namespace backplane
