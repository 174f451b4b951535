// One rule of the findings, and the small language in which rules are written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/finding_case.hpp"

namespace backplane {

// What a rule says of one case: nothing to say, nothing known, or a finding and how strong its case is beside others.
struct RuleVerdict {
  std::string missing;  // why it can not tell; empty: it can
  std::optional<Finding> finding;
  double strength = 0;
  std::string kind = {};  // which of the rule's causes it is, where it has several: others are findings of their own
  bool voids = false;     // the case's times are worth nothing
};
inline RuleVerdict Quiet() { return {}; }
inline RuleVerdict Silent(std::string why) { return {std::move(why), {}, 0}; }
inline RuleVerdict Fires(double strength, Finding finding, std::string kind = "") {
  return {"", std::move(finding), strength, std::move(kind)};
}

struct Rule {
  RuleInfo info;         // info.cause is also the cause of a finding that names none
  std::string evidence;  // what it needs, for `--explain`
  // Id, settings and, where empty, the cause of the finding are filled in by Diagnose.
  RuleVerdict (*test)(const Case& c);
  bool sees_out_of_memory = false;  // also trials that ended for want of memory, which have no measures
  bool holds_when_busy = false;     // what it says is not concluded from times, which other programs may void
};

// Groups by topic, each in a file of its own: findings_GROUP.cpp.
std::vector<Rule> MachineRules();
std::vector<Rule> ScalingRules();
std::vector<Rule> SpeedRules();
std::vector<Rule> PhaseRules();
std::vector<Rule> GpuRules();
std::vector<Rule> TargetRules();
std::vector<Rule> LearningRules();
std::vector<Rule> MeasurementRules();

}  // namespace backplane
