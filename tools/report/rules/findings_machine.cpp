// Rules about processors, memory and storage.
#include <fmt/format.h>

#include <algorithm>

#include "machine/resource_measures.hpp"
#include "results/series.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"
#include "rules/finding_scaling.hpp"

namespace backplane {
namespace {

constexpr double kSaturatedPct = 90, kThrottledPct = 5, kRunQueueWaitPct = 10, kCpuPressure = 20, kMemoryPct = 90,
                 kIoPressure = 20;
constexpr const char *kQuota = resource_measure::kCpuQuotaPct, *kThrottled = resource_measure::kThrottledPeriodsPct,
                     *kWait = resource_measure::kRunQueueWaitPct, *kCpuPsi = resource_measure::kPsiCpuSomePct,
                     *kMemoryLimit = resource_measure::kMemoryLimitPct, *kRam = resource_measure::kRamSystemPct,
                     *kIoPsi = resource_measure::kPsiIoSomePct, *kWaitShare = "time/waiting_for_a_core_pct";

// Busy cores are what a well-run experiment on processors looks like, so alone they are no warning: only where rows were added
// and brought nothing, though the cores do less for each of them than one row's core did.
RuleVerdict CpuSaturated(const Case& c) {
  const std::optional<double> used = c.Value(kQuota);
  if (!used) return Silent(NotMeasured(c, kQuota));
  if (*used < kSaturatedPct) return Quiet();
  Finding f;
  f.title = fmt::format("The granted cores are {:.0f} % busy", *used);
  f.evidence = {{kQuota, *used, kSaturatedPct, "%", c.Window(kQuota)}};
  f.effect = "SPS rises with each further core, as long as there are runners for it";
  f.moves = "SPS", f.direction = 1;
  f.confidence = "high: measured directly";
  AddMoreCores(c, &f.fixes);
  std::optional<Step> flat;
  if (c.setting && !CoresAreFull(*c.setting)) flat = FlatStepTo(*c.parallel, *c.setting);
  if (flat) {
    f.severity = Severity::kWarning;
    f.cause = fmt::format(
        "The cores are busy, but the step from {} to {} added {:.1f} % SPS: the time goes into something other "
        "than further rows.",
        flat->from->name, flat->to->name, flat->gain_pct.value);
    if (f.fixes.empty()) {
      AddFix(c, flat->path(), flat->ValueIn(LastGoodPoint(*c.parallel, *flat)), &f.fixes);
      f.effect = "About the same SPS from fewer rows: parallel efficiency rises";
      f.moves = "efficiency_pct";
    }
  }
  return Fires(*used, f, flat ? "rows without gain" : "");
}

RuleVerdict CpuThrottled(const Case& c) {
  const std::optional<double> throttled = c.Value(kThrottled);
  if (!throttled) return Silent(NotMeasured(c, kThrottled));
  if (*throttled <= kThrottledPct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The CPU quota stopped the trial in {:.1f} % of its periods", *throttled);
  f.evidence = {{kThrottled, *throttled, kThrottledPct, "%", c.Window(kThrottled)}};
  f.effect = "Fewer throttled periods, more even steps";
  f.moves = kThrottled, f.direction = -1;
  f.confidence = "high: counted by the kernel";
  const std::optional<uint64_t> cores = c.Cores(), threads = c.PoolThreads();
  if (cores && threads && *threads > *cores) AddFix(c, "rollout.threads", *cores, &f.fixes);
  return Fires(*throttled, f);
}

// Returns true if the trial's own threads wait for each other.
bool ExplainWaits(const Case& c, Finding* f) {
  const std::optional<uint64_t> cores = c.Cores(), threads = c.PoolThreads();
  const bool own = cores && threads && *threads > *cores;
  if (own) {
    f->cause = fmt::format("The trial has {} threads for {} cores: they take the cores from each other.", *threads, *cores);
    AddFix(c, "rollout.threads", *cores, &f->fixes);
    f->effect = "Threads stop waiting for each other; SPS rises or stays, steps become even";
    f->confidence = "high: more threads than cores";
  } else {
    f->cause =
        "The trial has no more threads than granted cores, as far as is known, so other programs want these cores. Repeat on "
        "a quiet machine, and do not trust the times of this batch.";
    f->effect = "Without the other programs threads wait less";
    f->confidence = "medium: what else ran was not recorded";
  }
  return own;
}

// Both signals also rise when other programs want the same cores. Then fewer threads do not help, so the change is proposed
// only where the trial itself has more threads than cores. The wait is that of the trial's threads; the pressure is that of
// its control group or of the machine, and the samples do not say which.
RuleVerdict Oversubscribed(const Case& c) {
  const std::optional<double> sampled = c.Value(kWait), pressure = c.Value(kCpuPsi);
  // A short trial may have no sample; the host counts the wait of every trial.
  const char* const measure = sampled ? kWait : kWaitShare;
  const std::optional<double> wait = c.Value(measure);
  if (!wait && !pressure) return Silent(NotMeasured(c, kWait) + "; " + NotMeasured(c, kCpuPsi));
  const bool waits = wait && *wait > kRunQueueWaitPct, presses = pressure && *pressure > kCpuPressure;
  if (!waits && !presses) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  if (waits)
    f.evidence.push_back(
        {measure, *wait, kRunQueueWaitPct, sampled ? "% of CPU time" : "% of threads' time", c.Window(measure)});
  if (presses) f.evidence.push_back({kCpuPsi, *pressure, kCpuPressure, "% of time", c.Window(kCpuPsi)});
  if (!waits)
    f.title = fmt::format("Some task waits for a core for {:.0f} % of the time", *pressure);
  else
    f.title = sampled ? fmt::format("Threads wait for a core {:.2g} times as long as they run", *wait / 100)
                      : fmt::format("Threads wait for a core for {:.0f} % of their time", *wait);
  f.moves = f.evidence.front().measure, f.direction = -1;
  const bool own = ExplainWaits(c, &f);
  RuleVerdict verdict = Fires(waits ? *wait / kRunQueueWaitPct : *pressure / kCpuPressure, f, own ? "own threads" : "others");
  verdict.voids = !own;  // threads of its own that wait are a property of the setting
  return verdict;
}

RuleVerdict RamNearLimit(const Case& c) {
  const bool limited = c.Peak(kMemoryLimit).has_value();
  const char* measure = limited ? kMemoryLimit : kRam;
  const std::optional<double> peak = c.Peak(measure);
  if (!peak) return Silent(NotMeasured(c, kMemoryLimit) + "; " + NotMeasured(c, kRam));
  if (*peak < kMemoryPct) return Quiet();
  Finding f;
  f.severity = Severity::kSerious;
  f.title = fmt::format("Memory reached {:.0f} % of {}", *peak, limited ? "its limit" : "the machine's");
  f.evidence = {{measure, *peak, kMemoryPct, "%", c.PeakWindow(measure)}};
  f.effect = "Peak memory falls; beyond the limit the kernel ends the trial";
  f.moves = measure, f.direction = -1;
  f.confidence = limited ? "high: read from the control group" : "medium: other programs' memory counts too";
  AddHalved(c, kRowsPath, "[1,)", &f.fixes);
  if (f.fixes.empty()) AddHalved(c, kRunnersPath, "[1,)", &f.fixes);
  AddOptionFixes(c, "ram_near_limit", &f.fixes);
  return Fires(*peak, f, measure);
}

RuleVerdict IoStalled(const Case& c) {
  const std::optional<double> pressure = c.Value(kIoPsi);
  if (!pressure) return Silent(NotMeasured(c, kIoPsi));
  if (*pressure <= kIoPressure) return Quiet();
  Finding f;
  f.leads = false;
  f.title = fmt::format("Some task waits for storage for {:.0f} % of the time", *pressure);
  f.evidence = {{kIoPsi, *pressure, kIoPressure, "% of time", c.Window(kIoPsi)}};
  f.effect = "Fewer writes, less waiting for storage";
  f.moves = kIoPsi, f.direction = -1;
  f.confidence = "low: whether the pressure is that of the trial's control group or of the whole machine was not recorded";
  // 0 writes one at the end only: nothing to save there.
  if (c.Count("checkpoint.every_iterations")) AddDoubled(c, "checkpoint.every_iterations", "[0,)", &f.fixes);
  return Fires(*pressure, f);
}

}  // namespace

std::vector<Rule> MachineRules() {
  return {
      {{"cpu_saturated", "the trial uses >= 90 % of its CPU quota, mean after the first iteration",
        "The granted cores are busy: for an experiment on processors this is how it should be, and the machine is the limit.",
        "resources.cpus up; where rows were added without gain, back to the last good setting",
        "90 %: this project. It is a note where the cores are well used, a warning where a doubling of rows added < 10 % SPS "
        "at a core efficiency < 80 %."},
       fmt::format("{}; core efficiency to tell the two apart", kQuota),
       CpuSaturated},
      {{"cpu_throttled", "the kernel stopped the trial in > 5 % of the quota's periods",
        "More threads run at once than the CPU quota pays for, so all of them stand still until the next period.",
        "rollout.threads down to the quota, or a larger quota", "5 %: this project."},
       fmt::format("{}, which exists under a CPU quota only; cores used and percent of the quota tell its size", kThrottled),
       CpuThrottled,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"oversubscribed",
        "run-queue wait > 10 % of the CPU time (where no sample tells it, waiting for a core > 10 % of the threads' time), or "
        "CPU "
        "pressure (some) > 20 % of the time",
        "More threads want to run than there are cores.",
        "rollout.threads down to the granted cores. If the trial has no more threads than cores others press it: a quiet "
        "machine",
        "10 % and 20: this project. The pressure can be the machine's, and so the doing of others: then all that was concluded "
        "from times is void."},
       fmt::format("{}, {} or {}; learner_threads and the granted cores for the change", kWait, kWaitShare, kCpuPsi),
       Oversubscribed,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"ram_near_limit",
        "the memory's peak is >= 90 % of the control group's limit, or of the machine's memory if there is none",
        "The next larger rollout, checkpoint or evaluation may end the trial.",
        "fewer rows per runner, then fewer runners; a smaller rollout",
        "90 %: as torch_tb_profiler and nvitop (80 high, 90 more)."},
       fmt::format("{} or {}", kMemoryLimit, kRam),
       RamNearLimit,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"io_stalled", "storage pressure (some) > 20 % of the time, mean after the first iteration",
        "Tasks wait for storage: for checkpoints, logs, or what others write.",
        "checkpoint.every_iterations up; output.dir on a local disk",
        "20: this project, without a published source. A note that never leads: the pressure can be another program's."},
       kIoPsi,
       IoStalled,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
  };
}

SignsOfOthers SignsOfOthersIn(const TrialData& trial) {
  return {trial.Find(kWaitShare) != nullptr, trial.Find(kWait) != nullptr || trial.Find(kCpuPsi) != nullptr};
}

}  // namespace backplane
