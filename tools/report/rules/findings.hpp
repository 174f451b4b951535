// Finds the limits of a batch and the changes to make: rules over measures. A rule without its evidence stays silent, and the
// report lists the reason.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/fix.hpp"
#include "record/run_info.hpp"
#include "results/combine.hpp"
#include "results/parallel_efficiency.hpp"

namespace backplane {

enum class Severity { kInfo = 1, kWarning, kSerious };
const char* SeverityName(Severity severity);  // "info", "warning", "serious"

struct Evidence {
  std::string measure;  // its name in result_set.hpp
  double value = 0;
  std::optional<double> threshold = std::nullopt;  // absent: shown as context, not judged
  std::string unit;
  std::string window;  // time window: "mean after the first iteration, 12 samples"
};

struct Finding {
  std::string id;  // stable: "cpu_saturated"
  Severity severity = Severity::kInfo;
  std::string title;                  // one line with its number
  std::vector<std::string> settings;  // points with the same diagnosis, the strongest case first
  std::vector<Evidence> evidence;     // of the strongest case
  std::string cause;
  std::vector<Fix> fixes;  // the best first; empty: `cause` names a remedy outside the file
  std::string effect;      // what should happen: "SPS rises; phase/env_step falls"
  std::string moves;       // the measure to change, and
  int direction = 0;       // its direction: 1 rises, -1 falls
  std::string confidence;  // "high", "medium", "low", and why
  std::string out = {};    // results folder of the strongest case
  bool leads = true;       // false: another program may be the cause, so not a headline
};

struct SilentRule {
  std::string id, why;
};

struct Diagnosis {
  // Possible headlines first, then by severity, then by distance from the threshold times the number of settings. An id appears
  // several times if settings have different causes.
  std::vector<Finding> findings;
  std::vector<SilentRule> silent;
  std::string why_void = {};               // headline sentence if a busy machine voids the times; else empty
  std::set<std::string> void_trials = {};  // ids of trials disturbed by other programs

  // The first possible headline; null: none.
  const Finding* Lead() const { return findings.empty() || !findings.front().leads ? nullptr : &findings.front(); }
};

// `parallel` is null for reports that do not analyse parallel efficiency.
Diagnosis Diagnose(const Combined& combined, const ParallelEfficiency* parallel, const std::vector<OptionHelp>& options);

// Recorded data that can reveal other programs on the trial's cores.
struct SignsOfOthers {
  bool waits = false;    // waiting time of threads for a core
  bool samples = false;  // samples of the machine by a monitor
};
SignsOfOthers SignsOfOthersIn(const TrialData& trial);

struct RuleInfo {
  std::string id, fires_when, cause, change, source;
};
const std::vector<RuleInfo>& FindingRules();
// What `report --explain ID` prints; absent if there is no such rule.
std::optional<std::string> Explain(const std::string& id);

}  // namespace backplane
