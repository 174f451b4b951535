#include "analysis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analysis/finding_rule.hpp"

namespace backplane {
namespace {

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (std::vector<Rule> (*group)() :
         {MachineRules, ScalingRules, PhaseRules, GpuRules, TargetRules, LearningRules, MeasurementRules}) {
      for (Rule& rule : group()) all.push_back(std::move(rule));
    }
    return all;
  }();
  return rules;
}

bool Stronger(const RuleVerdict& a, const RuleVerdict& b) {
  return std::tuple(a.finding->severity, a.strength) > std::tuple(b.finding->severity, b.strength);
}

// Whether the strongest one's text is true of the other one, too.
bool SameDiagnosis(const RuleVerdict& a, const RuleVerdict& b) {
  const auto same_place = [](const Fix& one, const Fix& other) { return one.path == other.path && one.swept == other.swept; };
  return a.finding->severity == b.finding->severity && a.kind == b.kind &&
         std::equal(a.finding->fixes.begin(), a.finding->fixes.end(), b.finding->fixes.begin(), b.finding->fixes.end(),
                    same_place);
}

// A change that the batch has tried already needs no further run.
void NameWhoHasIt(const Case& c, Finding* finding) {
  for (const Fix& fix : finding->fixes) {
    const std::string name = fix.swept ? c.SettingWith(fix.path, fix.to) : "";
    if (!name.empty()) finding->effect += fmt::format("; {} of this batch has {} {}", name, fix.path, fix.to.dump());
  }
}

// One finding for all cases of one diagnosis, that of the strongest.
void Judge(const Rule& rule, const std::vector<Case>& cases, Diagnosis* diagnosis) {
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
    NameWhoHasIt(c, &*verdict.finding);
    fired.emplace_back(std::move(verdict), c.name);
  }
  if (!judged) return diagnosis->silent.push_back({rule.info.id, std::move(why)});
  std::stable_sort(fired.begin(), fired.end(), [](const auto& a, const auto& b) { return Stronger(a.first, b.first); });
  std::vector<std::pair<const RuleVerdict*, size_t>> known;  // each diagnosis, and its place among the findings
  for (const auto& [verdict, name] : fired) {
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&, &v = verdict](const auto& other) { return SameDiagnosis(*other.first, v); });
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
  for (const Rule& rule : Rules()) Judge(rule, rule.sees_out_of_memory ? with_out_of_memory : cases, &diagnosis);
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) { return std::tie(b.severity, a.id) < std::tie(a.severity, b.id); });
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
      "{}\n\nfires when  {}.\nneeds       {}; else the rule is silent.\ncause       {}\nchange      {}.\nthreshold   {}\n",
      info.id, info.fires_when, rule->evidence, info.cause, info.change, info.source);
}

}  // namespace backplane
