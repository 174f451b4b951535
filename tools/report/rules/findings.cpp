#include "rules/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "rules/finding_evidence.hpp"
#include "rules/finding_rule.hpp"

namespace backplane {
namespace {

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (std::vector<Rule> (*group)() :
         {MachineRules, ScalingRules, PhaseRules, GpuRules, TargetRules, LearningRules, MeasurementRules, SpeedRules}) {
      for (Rule& rule : group()) all.push_back(std::move(rule));
    }
    return all;
  }();
  return rules;
}

bool Stronger(const RuleVerdict& a, const RuleVerdict& b) {
  return std::tuple(a.finding->severity, a.strength) > std::tuple(b.finding->severity, b.strength);
}

// The distance from the threshold in multiples of it; a threshold of 0 is a count.
double Distance(const Finding& finding) {
  for (const Evidence& evidence : finding.evidence) {
    if (!evidence.threshold) continue;
    const double unit = *evidence.threshold == 0 ? 1 : std::abs(*evidence.threshold);
    return std::abs(evidence.value - *evidence.threshold) / unit;
  }
  return 0;
}

bool ComesBefore(const Finding& a, const Finding& b) {
  const auto rank = [](const Finding& f) {
    return std::tuple(f.leads, f.severity, Distance(f) * static_cast<double>(f.settings.size()));
  };
  return rank(a) != rank(b) ? rank(a) > rank(b) : a.id < b.id;
}

// Merges all cases of one cause into the strongest finding. `busy` counts cases with void times.
void Judge(const Rule& rule, const std::vector<Case>& cases, Diagnosis* diagnosis, size_t* busy) {
  std::vector<std::pair<RuleVerdict, std::string>> fired;
  std::string why = cases.empty() ? "no trial has a result" : "";
  bool judged = false;
  for (const Case& c : cases) {
    RuleVerdict verdict = rule.test(c);
    if (!verdict.missing.empty()) {
      if (why.empty()) why = std::move(verdict.missing);
      continue;
    }
    judged = true;
    if (!verdict.finding) continue;
    if (verdict.voids) {
      ++*busy;
      for (const TrialData* trial : c.trials) diagnosis->void_trials.insert(trial->trial_id);
    }
    if (!AskTheBatch(c, &*verdict.finding)) continue;
    verdict.finding->out = c.trials.front()->out.string();
    fired.emplace_back(std::move(verdict), c.name);
  }
  if (!judged) return diagnosis->silent.push_back({rule.info.id, std::move(why)});
  std::stable_sort(fired.begin(), fired.end(), [](const auto& a, const auto& b) { return Stronger(a.first, b.first); });
  std::vector<std::pair<const RuleVerdict*, size_t>> known;  // each diagnosis, and its index in the findings
  for (const auto& [verdict, name] : fired) {
    const auto same =
        std::find_if(known.begin(), known.end(), [&, &v = verdict](const auto& other) { return other.first->kind == v.kind; });
    if (same != known.end()) {
      diagnosis->findings[same->second].settings.push_back(name);
      continue;
    }
    known.emplace_back(&verdict, diagnosis->findings.size());
    Finding& finding = diagnosis->findings.emplace_back(*verdict.finding);
    finding.id = rule.info.id;
    if (finding.cause.empty()) finding.cause = rule.info.cause;
    finding.settings = {name};
  }
}

// Findings from void times get a low confidence and are no headline.
void VoidTimes(size_t busy, size_t cases, Diagnosis* diagnosis) {
  diagnosis->why_void = fmt::format(
      "Not trustworthy: the machine was busy. Other programs competed for the cores while {} of {} {} ran; run again on an "
      "idle "
      "machine",
      busy, cases, cases == 1 ? "setting" : "settings");
  const auto is_of_times = [](const Finding& finding) {
    return std::any_of(Rules().begin(), Rules().end(),
                       [&](const Rule& rule) { return rule.info.id == finding.id && !rule.holds_when_busy; });
  };
  for (Finding& finding : diagnosis->findings) {
    if (!is_of_times(finding)) continue;
    finding.severity = Severity::kInfo;
    finding.confidence = "low: the finding is based on times, and the machine was busy";
  }
}

}  // namespace

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kSerious: return "serious";
  }
  return "unknown";
}

Diagnosis Diagnose(const Combined& combined, const ParallelEfficiency* parallel, const std::vector<OptionHelp>& options) {
  const std::vector<Case> cases = CasesOf(combined, parallel, options, false);
  const std::vector<Case> with_out_of_memory = CasesOf(combined, parallel, options, true);
  Diagnosis diagnosis;
  size_t busy = 0;
  for (const Rule& rule : Rules()) Judge(rule, rule.sees_out_of_memory ? with_out_of_memory : cases, &diagnosis, &busy);
  if (busy > 0) VoidTimes(busy, cases.size(), &diagnosis);
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), ComesBefore);
  return diagnosis;
}

const std::vector<RuleInfo>& FindingRules() {
  static const std::vector<RuleInfo> infos = [] {
    std::vector<RuleInfo> all;
    for (const Rule& rule : Rules()) all.push_back(rule.info);
    return all;
  }();
  return infos;
}

std::optional<std::string> Explain(const std::string& id) {
  const auto rule = std::find_if(Rules().begin(), Rules().end(), [&](const Rule& r) { return r.info.id == id; });
  if (rule == Rules().end()) return std::nullopt;
  const RuleInfo& info = rule->info;
  return fmt::format(
      "{}\n\nfires when  {}.\nneeds       {}; otherwise the rule is silent.\ncause       {}\nchange      {}.\nthreshold   {}\n",
      info.id, info.fires_when, rule->evidence, info.cause, info.change, info.source);
}

}  // namespace backplane
