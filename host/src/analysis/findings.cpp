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
    for (std::vector<Rule> (*group)() : {MachineRules, ScalingRules, PhaseRules, GpuRules, MeasurementRules}) {
      for (Rule& rule : group()) all.push_back(std::move(rule));
    }
    return all;
  }();
  return rules;
}

bool Stronger(const Verdict& a, const Verdict& b) {
  return std::tuple(a.finding->severity, a.strength) > std::tuple(b.finding->severity, b.strength);
}

// One finding for all cases in which a rule fires, that of the strongest.
void Judge(const Rule& rule, const std::vector<Case>& cases, Diagnosis* diagnosis) {
  std::vector<std::pair<Verdict, std::string>> fired;
  std::string why = cases.empty() ? "no trial has a result" : "";
  bool judged = false;
  for (const Case& c : cases) {
    Verdict verdict = rule.test(c);
    if (!verdict.missing.empty()) {
      if (why.empty()) why = std::move(verdict.missing);
      continue;
    }
    judged = true;
    if (verdict.finding) fired.emplace_back(std::move(verdict), c.name);
  }
  if (!judged) return diagnosis->silent.push_back({rule.info.id, std::move(why)});
  if (fired.empty()) return;
  std::stable_sort(fired.begin(), fired.end(), [](const auto& a, const auto& b) { return Stronger(a.first, b.first); });
  Finding finding = std::move(*fired.front().first.finding);
  finding.id = rule.info.id;
  if (finding.cause.empty()) finding.cause = rule.info.cause;
  for (auto& [verdict, name] : fired) finding.settings.push_back(std::move(name));
  diagnosis->findings.push_back(std::move(finding));
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
  const std::vector<Case> cases = CasesOf(combined, parallel, options);
  Diagnosis diagnosis;
  for (const Rule& rule : Rules()) Judge(rule, cases, &diagnosis);
  std::sort(diagnosis.findings.begin(), diagnosis.findings.end(),
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
