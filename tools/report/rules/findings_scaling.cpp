// Rules about gains from more runners and rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"
#include "rules/finding_scaling.hpp"

namespace backplane {
namespace {

struct Growth {
  std::string phase;  // empty: unknown
  double points = 0;  // percentage points of the threads' time
};

// The phase whose share of the threads' time grew most from one case to another.
Growth GrownPhase(const Case& from, const Case& to) {
  Growth most;
  if (!from.HasPhases()) return most;
  for (const auto& [measure, number] : to.trials.front()->measures) {
    if (!measure.starts_with("phase/")) continue;
    const double more = to.Value(measure).value_or(0) - from.Value(measure).value_or(0);
    if (more > most.points) most = {measure.substr(6), more};
  }
  return most;
}

// If the gain may be 10 % or more, the step is not shown to be flat, whatever the number of measurements.
std::string ConfidenceIn(const Number& gain_pct) {
  if (!gain_pct.low || !gain_pct.high) return "low: there are too few seeds for an interval of the gain";
  const std::string interval = fmt::format("the interval of the gain ({:.1f} to {:.1f} %)", *gain_pct.low, *gain_pct.high);
  if (*gain_pct.high >= kFlatGainPct) return fmt::format("low: {} includes {:g} %", interval, kFlatGainPct);
  if (gain_pct.n < 3) return fmt::format("medium: {} comes from only {} measurements", interval, gain_pct.n);
  return fmt::format("high: {} is below {:g} %", interval, kFlatGainPct);
}

// Explains the growth of a phase's share.
struct PhaseMeaning {
  const char *prefix, *meaning;
};
constexpr PhaseMeaning kMeanings[] = {
    {"env_", "Steps of envs cost more: cores share memory and caches, and physical cores share hyperthreads."},
    {"infer", "Action selection costs more: its calls are too small for more threads, or the net grew out of the caches."},
    {"update_", "The learner's updates take a larger part of the time, and more envs do not shorten them (see update_bound)."},
    {"idle", "Threads wait for the slowest chunk, or there are fewer chunks than threads."},
    {"sync", "Weights are copied more often (see sync_overhead)."},
    {"obs_transfer", "More observations are copied (see transfer_bound)."},
    {"act_transfer", "More actions are copied (see transfer_bound)."},
    {"ready_wait", "Threads wait for a core (see oversubscribed)."},
};

std::string MeaningOf(const std::string& phase) {
  const auto found = std::ranges::find_if(kMeanings, [&](const PhaseMeaning& one) { return phase.starts_with(one.prefix); });
  return found == std::end(kMeanings) ? "" : std::string(" ") + found->meaning;
}

// Readers who know frameworks with worker processes look for communication first.
std::string AboutProcesses(const Case& c) {
  if (const uint64_t workers = c.Count("rollout.workers").value_or(0); workers > 0)
    return fmt::format(" {} rollout workers exchange weights and rollouts once per iteration (phase sync).", workers);
  return " The trial's threads step the envs and write into the learner's buffers without another process, so fewer and larger "
         "runners save no communication.";
}

// Makes a case from a setting's usable trials.
Case CaseOf(const Case& like, const Setting& setting) {
  Case c = like;
  c.trials.clear();
  for (const size_t trial : setting.trials) {
    const TrialData& data = (*like.all_trials)[trial].data;
    if (data.usable()) c.trials.push_back(&data);
  }
  return c;
}

// A step without much to gain is no bottleneck: its rows share cores that already do as much as one row's core did. Core
// efficiency distinguishes it from a step whose new cores bring nothing.
RuleVerdict SpeedupFlat(const Case& c) {
  if (!c.parallel) return Silent("the report does not compare numbers of runners and envs");
  if (!c.setting || StepsTo(*c.parallel, *c.setting).empty())
    return Silent("no two settings differ only in runners or only in envs per runner");
  const std::optional<Step> flat = FlatStepTo(*c.parallel, *c.setting);
  if (!flat) return Quiet();
  const Setting& good = LastGoodPoint(*c.parallel, *flat);
  const bool full = CoresAreFull(*flat->to);
  Finding f;
  f.severity = full ? Severity::kInfo : Severity::kWarning;
  f.title = fmt::format("From {} to {} SPS changes by {:+.1f} % per doubling; the last good point is {}", flat->from->name,
                        flat->to->name, flat->gain_pct.value, good.name);
  const Number& gain = flat->gain_pct;
  const std::string window = fmt::format("{} to {}{}", flat->from->name, flat->to->name,
                                         gain.of.empty() ? "" : fmt::format(", {} {}", gain.n, gain.of));
  f.evidence = {{"SPS", gain.value, kFlatGainPct, "% per doubling", window}};
  if (const std::optional<double>& core = flat->to->core_efficiency_pct)
    f.evidence.push_back({"core_efficiency_pct", *core, kFullCoresPct, "%", flat->to->name});
  f.cause = full ? "The cores were nearly full before, so the added envs only share them. This is no bottleneck."
                 : "The added runners or envs do not keep the cores busy.";
  const Case from = CaseOf(c, *flat->from);
  const Growth grown = from.trials.empty() ? Growth{} : GrownPhase(from, c);
  if (!grown.phase.empty())
    f.cause += fmt::format(" The phase {} grew most, by {:.1f} points of the threads' time.{}", grown.phase, grown.points,
                           MeaningOf(grown.phase));
  f.cause += AboutProcesses(c);
  AddFix(c, flat->path(), flat->ValueIn(good), &f.fixes);
  f.effect = fmt::format("Fewer envs reach about the same SPS: parallel efficiency rises to the value of {}", good.name);
  f.moves = "efficiency_pct", f.direction = 1;
  f.confidence = ConfidenceIn(gain);
  return Fires(kFlatGainPct - gain.value, f, grown.phase);
}

}  // namespace

std::vector<Rule> ScalingRules() {
  return {
      {{"speedup_flat", "twice the runners or envs gave < 10 % more SPS (other factors are converted to a doubling)",
        "Something other than the number of envs limits the speed.",
        "set rollout.num_env_runners or rollout.num_envs_per_env_runner back to the last good point",
        "10 %: this project, without a published source. A note if core efficiency is >= 80 %, because a core that one env "
        "fills cannot gain from a second env. Otherwise a warning."},
       "SPS of two settings that differ only in runners or only in envs per runner; phase/*, to name the phase that grew",
       SpeedupFlat},
  };
}

}  // namespace backplane
