// One rule of the findings, and helpers for writing rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/finding_case.hpp"

namespace backplane {

// A rule's result for one case: quiet, missing data, or a finding and its strength.
struct RuleVerdict {
  std::string missing;  // the missing data, as a sentence; empty: the rule could decide
  std::optional<Finding> finding;
  double strength = 0;
  std::string kind = {};  // the cause, if the rule has several; each is a separate finding
  bool voids = false;     // the case's times are invalid
};
inline RuleVerdict Quiet() { return {}; }
inline RuleVerdict Silent(std::string why) { return {std::move(why), {}, 0}; }
inline RuleVerdict Fires(double strength, Finding finding, std::string kind = "") {
  return {"", std::move(finding), strength, std::move(kind)};
}

struct Rule {
  RuleInfo info;         // info.cause also serves findings without their own
  std::string evidence;  // required data, for `--explain`
  // Diagnose fills in id, settings and, if empty, the cause.
  RuleVerdict (*test)(const Case& c);
  bool sees_out_of_memory = false;  // also test trials that ran out of memory, which have no measures
  bool holds_when_busy = false;     // does not depend on times, which other programs may disturb
};

// Groups by topic, each in its own file: findings_GROUP.cpp.
std::vector<Rule> MachineRules();
std::vector<Rule> ScalingRules();
std::vector<Rule> SpeedRules();
std::vector<Rule> PhaseRules();
std::vector<Rule> GpuRules();
std::vector<Rule> TargetRules();
std::vector<Rule> LearningRules();
std::vector<Rule> MeasurementRules();

}  // namespace backplane
