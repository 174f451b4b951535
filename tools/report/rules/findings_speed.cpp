// Rules about implausible speeds and slow updates.
#include <fmt/format.h>

#include <algorithm>

#include "results/setting_speed.hpp"
#include "rules/finding_batch_sizes.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"

namespace backplane {
namespace {

constexpr double kMostCoreEfficiencyPct = 105, kSlowSeconds = 1, kMostUpdatePct = 50;

RuleVerdict CoreEfficiencyTooHigh(const Case& c) {
  if (!c.parallel || !c.setting) return Silent("the report does not compare numbers of runners and envs");
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
  f.effect = "Core efficiency falls to 100 % or below; if it stays above, shared calls cause the gain";
  f.moves = "core_efficiency_pct", f.direction = -1;
  f.confidence = fmt::format("high: the 95 % interval is {:.1f} to {:.1f} %", *measured.low, *measured.high);
  return Fires(*core - kMostCoreEfficiencyPct, f);
}

// Accumulation computes the parts of an update one after the other.
RuleVerdict SlowUpdates(const Case& c) {
  const std::optional<double> seconds = c.Value("iteration_s");
  const std::optional<BatchSizes> sizes = BatchSizesIn(c, "learner.options.");
  if (!sizes) return Quiet();
  if (!seconds) return Silent(NotMeasured(c, "iteration_s"));
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/update_*"));
  const double share = c.BusyShare({"update_forward", "update_backward", "update_optim"});
  if (*seconds <= kSlowSeconds || share <= kMostUpdatePct || sizes->Parts() < 2) return Quiet();
  Finding f;
  AddOptionFixes(c, "slow_updates", &f.fixes);
  // With the parts at 0, they follow from the other two sizes.
  if (sizes->parts == 0 && sizes->whole % (2 * sizes->micro) == 0) AddHalved(c, sizes->whole_path, "[1,)", &f.fixes);
  const auto fewer = std::ranges::find_if(f.fixes, [](const Fix& fix) { return fix.to < fix.from; });
  if (fewer == f.fixes.end()) return Quiet();
  const double smaller = static_cast<double>(sizes->Effective()) * fewer->to.get<double>() / fewer->from.get<double>();
  f.title = fmt::format("An update takes {:.2g} s for {} items in {} parts", *seconds, sizes->Effective(), sizes->Parts());
  f.evidence = {{"iteration_s", *seconds, kSlowSeconds, "s", "mean of the last tenth of the iterations"}};
  f.effect = fmt::format("With fewer parts an update is shorter, but the effective batch falls from {} to {:g}: compare scores",
                         sizes->Effective(), smaller);
  f.moves = "iteration_s", f.direction = -1;
  f.confidence = "high for the time of an update; the effect on learning is unknown";
  return Fires(*seconds, f);
}

}  // namespace

std::vector<Rule> SpeedRules() {
  return {{{"core_efficiency_high", "the 95 % interval of core efficiency lies above 105 %",
            "The machine was slower while the baseline ran (other programs, its clock, a cold start), or the envs of a runner "
            "share policy calls, which a single env cannot.",
            "leave the file as it is; measure the baseline again, with more seeds, on a quiet machine",
            "105 %: this project, without a published source. A core as fast as the baseline's has 100 %."},
           "SPS of the setting and of its baseline over several seeds; the granted cores",
           CoreEfficiencyTooHigh},
          {{"slow_updates", "an update of several micro-batches takes > 1 s, and updates > 50 % of the threads' busy time",
            "The micro-batches of an update are computed one after the other.",
            "halve gradient_accumulation_steps, which halves the effective batch; set options that declare to help",
            "1 s: this project, without a published source. A note, because a smaller batch also changes the learning."},
           "iteration_s and phase/*; a learner with options for gradient accumulation",
           SlowUpdates}};
}

}  // namespace backplane
