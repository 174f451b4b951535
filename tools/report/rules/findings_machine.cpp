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
                     *kIoPsi = resource_measure::kPsiIoSomePct, *kHeat = resource_measure::kCpuHeatThrottledPct,
                     *kCelsius = resource_measure::kCpuTemperatureC, *kWaitShare = "time/waiting_for_a_core_pct";

// Busy cores are normal for an efficient CPU experiment, so they are no warning by themselves. They are if added rows brought
// no gain although each core does less work per row than before.
RuleVerdict CpuSaturated(const Case& c) {
  const std::optional<double> used = c.Value(kQuota);
  if (!used) return Silent(NotMeasured(c, kQuota));
  if (*used < kSaturatedPct) return Quiet();
  Finding f;
  f.title = fmt::format("The granted cores are {:.0f} % busy", *used);
  f.evidence = {{kQuota, *used, kSaturatedPct, "%", c.Window(kQuota)}};
  f.effect = "SPS rises with each added core that has a runner";
  f.moves = "SPS", f.direction = 1;
  f.confidence = "high: measured directly";
  AddMoreCores(c, &f.fixes);
  std::optional<Step> flat;
  if (c.setting && !CoresAreFull(*c.setting)) flat = FlatStepTo(*c.parallel, *c.setting);
  if (flat) {
    f.severity = Severity::kWarning;
    f.cause = fmt::format(
        "The cores are busy, but the step from {} to {} added only {:.1f} % SPS: the added envs do not use the time.",
        flat->from->name, flat->to->name, flat->gain_pct.value);
    if (f.fixes.empty()) {
      AddFix(c, flat->path(), flat->ValueIn(LastGoodPoint(*c.parallel, *flat)), &f.fixes);
      f.effect = "Fewer envs reach about the same SPS: parallel efficiency rises";
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
  f.effect = "Fewer periods are throttled, and steps take equal times";
  f.moves = kThrottled, f.direction = -1;
  f.confidence = "high: counted by the kernel";
  const std::optional<uint64_t> cores = c.Cores(), threads = c.PoolThreads();
  if (cores && threads && *threads > *cores) AddFix(c, "rollout.threads", *cores, &f.fixes);
  return Fires(*throttled, f);
}

RuleVerdict CpuOverheated(const Case& c) {
  const std::optional<double> throttled = c.Value(kHeat);
  if (!throttled) return Silent(NotMeasured(c, kHeat));
  if (*throttled <= kThrottledPct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  const std::optional<double> celsius = c.Peak(kCelsius);
  f.title = fmt::format("Heat lowers the CPUs' clocks for {:.0f} % of the time{}", *throttled,
                        celsius ? fmt::format(", at up to {:.0f} C", *celsius) : "");
  f.evidence = {{kHeat, *throttled, kThrottledPct, "%", c.Window(kHeat)}};
  f.effect = "Clocks stay up; until then, the times of this batch depend on heat";
  f.moves = kHeat, f.direction = -1;
  f.confidence = "high: counted by the kernel";
  return Fires(*throttled, f);
}

// Returns true if the trial's own threads wait for each other.
bool ExplainWaits(const Case& c, Finding* f) {
  const std::optional<uint64_t> cores = c.Cores(), threads = c.PoolThreads();
  const bool own = cores && threads && *threads > *cores;
  if (own) {
    f->cause = fmt::format("The trial has {} threads for {} cores, so they compete for the cores.", *threads, *cores);
    AddFix(c, "rollout.threads", *cores, &f->fixes);
    f->effect = "Threads stop waiting for each other; SPS rises or stays, and steps take equal times";
    f->confidence = "high: more threads than cores";
  } else {
    f->cause =
        "The trial has no more threads than granted cores, as far as recorded, so other programs competed for them. Do not "
        "trust the times of this batch; repeat it on a quiet machine.";
    f->effect = "Without the other programs, threads wait less";
    f->confidence = "medium: other programs were not recorded";
  }
  return own;
}

// Both signals also rise if other programs use the same cores. Then fewer threads do not help, so propose the change only if
// the trial has more threads than cores. The trial's threads cause the wait; its control group or the machine causes the
// pressure, and the samples do not record which.
RuleVerdict Oversubscribed(const Case& c) {
  const std::optional<double> sampled = c.Value(kWait), pressure = c.Value(kCpuPsi);
  // A short trial may have no sample; the host records the wait of every trial.
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
    f.title = fmt::format("At least one task waits for a core for {:.0f} % of the time", *pressure);
  else
    f.title = sampled ? fmt::format("Threads wait for a core {:.2g} times as long as they run", *wait / 100)
                      : fmt::format("Threads wait for a core for {:.0f} % of their time", *wait);
  f.moves = f.evidence.front().measure, f.direction = -1;
  const bool own = ExplainWaits(c, &f);
  RuleVerdict verdict = Fires(waits ? *wait / kRunQueueWaitPct : *pressure / kCpuPressure, f, own ? "own threads" : "others");
  verdict.voids = !own;  // waiting of its own threads is a property of the setting
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
  f.effect = "Peak memory falls; above the limit the kernel kills the trial";
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
  f.title = fmt::format("At least one task waits for storage for {:.0f} % of the time", *pressure);
  f.evidence = {{kIoPsi, *pressure, kIoPressure, "% of time", c.Window(kIoPsi)}};
  f.effect = "The trial writes less and waits less for storage";
  f.moves = kIoPsi, f.direction = -1;
  f.confidence = "low: the pressure may come from the trial's control group or from the whole machine";
  // 0 writes only a final checkpoint, which cannot be omitted.
  if (c.Count("checkpoint.every_iterations")) AddDoubled(c, "checkpoint.every_iterations", "[0,)", &f.fixes);
  return Fires(*pressure, f);
}

}  // namespace

std::vector<Rule> MachineRules() {
  return {
      {{"cpu_saturated", "the trial uses >= 90 % of its CPU quota, mean after the first iteration",
        "The granted cores are busy, as they should be for an experiment on processors. The machine is the limit.",
        "raise resources.cpus; if more envs did not raise SPS, return to the last good setting",
        "90 %: thresholds of this project. A note if the cores are well used; a warning if twice the envs gave < 10 % more SPS "
        "at a core efficiency < 80 %."},
       fmt::format("{}; core efficiency, to separate note and warning", kQuota),
       CpuSaturated},
      {{"cpu_throttled", "the kernel stopped the trial in > 5 % of the periods of its CPU quota",
        "More threads run at the same time than the CPU quota covers, so all of them stop until the next period.",
        "lower rollout.threads to the quota, or raise the quota", "5 %: thresholds of this project."},
       fmt::format("{}, which needs a CPU quota; cores used and percent of the quota, for its size", kThrottled),
       CpuThrottled,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"cpu_overheated", "the kernel counted thermal throttles of the granted CPUs in > 5 % of the samples",
        "The CPUs reduce their clocks because they are too hot. Times of this batch cannot be compared with other batches.",
        "leave the file as it is; improve the cooling, wait until the machine is cool, or use fewer cores",
        "5 %: thresholds of this project. Only Intel's CPUs are counted, and not in most virtual machines."},
       kHeat,
       CpuOverheated,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"oversubscribed",
        "the run-queue wait is > 10 % of the CPU time (without samples: threads wait for a core > 10 % of their time), or CPU "
        "pressure (some) is > 20 % of the time",
        "More threads are ready to run than there are cores.",
        "lower rollout.threads to the granted cores. If the trial has no more threads than cores, use a quiet machine",
        "10 % and 20: thresholds of this project. Other programs can cause the pressure, because it may be measured for the "
        "whole machine. "
        "In that case, ignore all findings that use times."},
       fmt::format("{}, {} or {}; learner_threads and the granted cores, for the change", kWait, kWaitShare, kCpuPsi),
       Oversubscribed,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"ram_near_limit",
        "peak memory is >= 90 % of the control group's limit, or of the machine's memory if there is no limit",
        "A slightly larger rollout, checkpoint or evaluation may end the trial.",
        "use fewer envs per runner, then fewer runners; collect a smaller rollout",
        "90 %: as in torch_tb_profiler and nvitop, whose limits are 80 (high) and 90 (higher)."},
       fmt::format("{} or {}", kMemoryLimit, kRam),
       RamNearLimit,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"io_stalled", "storage pressure (some) > 20 % of the time, mean after the first iteration",
        "Tasks wait for storage while the trial or another program writes checkpoints, logs or other files.",
        "raise checkpoint.every_iterations; put output.dir on a local disk",
        "20: this project, without a published source. Always a note, because other programs can cause the pressure."},
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
