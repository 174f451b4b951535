// A rule about implausible speeds.
#include <fmt/format.h>

#include "results/setting_speed.hpp"
#include "rules/finding_rule.hpp"

namespace backplane {
namespace {

constexpr double kMostCoreEfficiencyPct = 105;

RuleVerdict CoreEfficiencyTooHigh(const Case& c) {
  if (!c.parallel || !c.setting) return Silent("the report does not compare runners and rows");
  const std::optional<double>& core = c.setting->core_efficiency_pct;
  if (!core) return Silent("the setting or its baseline has no speed, or the granted cores were not recorded");
  if (*core <= kMostCoreEfficiencyPct) return Quiet();
  const Setting& baseline = c.parallel->settings[*c.parallel->series[c.setting->series].baseline];
  const Number measured = SpeedRatio(*c.setting, baseline, *core * baseline.sps->value / c.setting->sps->value);
  // With too few seeds, the next run may be slower.
  if (!measured.low || *measured.low <= kMostCoreEfficiencyPct) return Quiet();
  Finding f;
  f.severity = Severity::kInfo;
  f.title = fmt::format("Core efficiency of {:.1f} %: each core did more than the baseline's, {}", *core, baseline.name);
  f.evidence = {{"core_efficiency_pct", *core, kMostCoreEfficiencyPct, "%", c.setting->name}};
  f.effect = "Core efficiency falls to 100 % or below; if it stays, shared calls cause the gain";
  f.moves = "core_efficiency_pct", f.direction = -1;
  f.confidence = fmt::format("high: its interval is {:.1f} to {:.1f} %", *measured.low, *measured.high);
  return Fires(*core - kMostCoreEfficiencyPct, f);
}

}  // namespace

std::vector<Rule> SpeedRules() {
  return {{{"core_efficiency_high", "the 95 % interval of core efficiency lies above 105 %",
            "The machine was slower while the baseline ran (other programs, its clock, a cold start), or the rows of a runner "
            "share policy calls, which a single row cannot.",
            "leave the file as it is; measure the baseline again, with more seeds, on a quiet machine",
            "105 %: this project, without a published source. A core as fast as the baseline's has 100 %."},
           "SPS of the setting and of its baseline over several seeds; the granted cores",
           CoreEfficiencyTooHigh}};
}

}  // namespace backplane
