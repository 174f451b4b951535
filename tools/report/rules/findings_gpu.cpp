// Rules about the device. NVML's utilisation is the share of time in which any kernel ran, so it is an upper bound of the
// device's use: low values prove that it starves, high ones prove little. All rules need a granted device, because the monitor
// samples every device of the machine, used or not.
#include <fmt/format.h>

#include <algorithm>

#include "machine/resource_measures.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"
#include "rules/finding_scaling.hpp"

namespace backplane {
namespace {

constexpr double kStarvedPct = 50, kFeedingPct = 50, kFullPct = 95, kAwakePct = 75, kFewUnitsPct = 30, kVramPct = 90,
                 kClockThrottledPct = 5;
constexpr const char *kGpuUse = resource_measure::kGpuUtilPct, *kUnits = resource_measure::kSmUtilPct,
                     *kVram = resource_measure::kGpuMemoryPct, *kClocks = resource_measure::kGpuThrottledPct,
                     *kEcc = resource_measure::kGpuEccUncorrected;

std::string NoDevice(const Case& c, const char* measure) {
  if (!c.HasGpu()) return "the trials were granted no GPU";
  return c.Value(measure) ? "" : NotMeasured(c, measure);
}

// The changes by effort and effect: more envs at a time, larger batches, then switches such as mixed precision.
void AddWork(const Case& c, Finding* f) {
  const std::optional<uint64_t> cores = c.Cores(), runners = c.Count(kRunnersPath);
  AddDoubled(c, kRowsPath, "[1,)", &f->fixes);
  if (cores && runners && *runners < *cores) AddFix(c, kRunnersPath, *cores, &f->fixes);
  AddOptionFixes(c, "gpu_idle", &f->fixes);
}

RuleVerdict GpuIdle(const Case& c) {
  if (std::string why = NoDevice(c, kGpuUse); !why.empty()) return Silent(std::move(why));
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/env_step"));
  const double util = *c.Value(kGpuUse);
  if (util >= kStarvedPct) return Quiet();
  const double feeding = c.BusyShare({"env_step", "env_reset", "obs_transfer", "act_transfer"});
  const bool waits = feeding > kFeedingPct;
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The GPU is active {:.0f} % of the time; envs and transfers take {:.0f} % of the threads' time", util,
                        feeding);
  f.evidence = {{kGpuUse, util, kStarvedPct, "%", c.Window(kGpuUse)},
                {"phase/env_* + phase/*_transfer", feeding, kFeedingPct, "%", "share of the threads' busy time, whole trial"}};
  if (waits) f.cause = "The GPU waits for observations. ";
  if (!waits) f.cause = "The GPU gets too little work at a time, so the CPU's part of each update dominates. ";
  f.cause += "The changes are listed by effort and effect: more envs at a time, larger batches, then mixed precision.";
  f.effect = "Each call on the GPU serves more samples, so the GPU is active for longer and SPS rises";
  f.moves = kGpuUse, f.direction = 1;
  f.confidence = "high: no GPU computes for longer than it is active";
  AddWork(c, &f);
  return Fires(100 - util, f, waits ? "waits" : "little work");
}

// A GPU that is always active may be far from full, so adding rows must also have brought no gain.
RuleVerdict GpuSaturated(const Case& c) {
  if (std::string why = NoDevice(c, kGpuUse); !why.empty()) return Silent(std::move(why));
  if (!c.setting || StepsTo(*c.parallel, *c.setting).empty())
    return Silent("to see if SPS is flat, two settings must differ only in runners or only in envs per runner");
  const double util = *c.Value(kGpuUse);
  const std::optional<Step> flat = FlatStepTo(*c.parallel, *c.setting);
  const std::optional<double> units = c.Value(kUnits);
  // launch_bound covers active GPUs with few units in use.
  if (util < kFullPct || !flat || (units && *units < kFewUnitsPct)) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The GPU is active {:.0f} % of the time, and more envs hardly raise SPS", util);
  f.evidence = {{kGpuUse, util, kFullPct, "%", c.Window(kGpuUse)},
                {"SPS", flat->gain_pct.value, kFlatGainPct, "% per doubling", flat->from->name + " to " + flat->to->name}};
  f.effect = "The device does less work per sample, so SPS rises";
  f.moves = "SPS", f.direction = 1;
  f.confidence = units ? "high: the GPU's units are in use, too"
                       : "medium: an active GPU is not always full, and the use of its units was not measured";
  AddOptionFixes(c, "gpu_saturated", &f.fixes);
  return Fires(util, f);
}

RuleVerdict LaunchBound(const Case& c) {
  if (std::string why = NoDevice(c, kGpuUse); !why.empty()) return Silent(std::move(why));
  const std::optional<double> units = c.Value(kUnits);
  if (!units) return Silent(fmt::format("{} was not measured: only GPUs with GPM (Hopper or newer) report it", kUnits));
  const double util = *c.Value(kGpuUse);
  if (util < kAwakePct || *units >= kFewUnitsPct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The GPU is active {:.0f} % of the time with {:.0f} % of its units in use", util, *units);
  f.evidence = {{kGpuUse, util, kAwakePct, "%", c.Window(kGpuUse)}, {kUnits, *units, kFewUnitsPct, "%", c.Window(kUnits)}};
  f.effect = "With fewer and larger kernels, more units work at a time";
  f.moves = kUnits, f.direction = 1;
  f.confidence = "medium: kernels are not counted";
  AddOptionFixes(c, "launch_bound", &f.fixes);
  return Fires(100 - *units, f);
}

RuleVerdict VramNearLimit(const Case& c) {
  if (!c.HasGpu()) return Silent(NoDevice(c, kVram));
  const std::optional<double> top = c.Peak(kVram);  // one sample is enough for a peak
  if (!top) return Silent(NotMeasured(c, kVram));
  const double peak = *top;
  if (peak <= kVramPct) return Quiet();
  Finding f;
  f.severity = Severity::kSerious;
  f.title = fmt::format("GPU memory reached {:.0f} %", peak);
  f.evidence = {{kVram, peak, kVramPct, "%", c.PeakWindow(kVram)}};
  f.effect = "Peak GPU memory falls; above the limit the trial runs out of memory";
  f.moves = kVram, f.direction = -1;
  f.confidence = "medium: other programs' memory counts too, and polling misses short peaks";
  AddOptionFixes(c, "vram_near_limit", &f.fixes);
  return Fires(peak, f);
}

RuleVerdict ClockThrottled(const Case& c) {
  if (std::string why = NoDevice(c, kClocks); !why.empty()) return Silent(std::move(why));
  const double throttled = *c.Value(kClocks);
  if (throttled <= kClockThrottledPct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("Power or heat lowers the GPU's clocks for {:.0f} % of the time", throttled);
  f.evidence = {{kClocks, throttled, kClockThrottledPct, "%", c.Window(kClocks)}};
  f.effect = "Clocks stay up; until then, the times of this batch depend on heat and power";
  f.moves = kClocks, f.direction = -1;
  f.confidence = "high: the driver reports the reason";
  return Fires(throttled, f);
}

// Corrected errors cost nothing; a detected one has changed a number, or ends the process.
RuleVerdict GpuMemoryErrors(const Case& c) {
  if (std::string why = NoDevice(c, kEcc); !why.empty()) return Silent(std::move(why));
  const double errors = c.Peak(kEcc).value_or(0);
  if (errors == 0) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The GPU's memory had {:.0f} errors that ECC could not correct", errors);
  f.evidence = {{kEcc, errors, 0, "errors", c.PeakWindow(kEcc)}};
  f.effect = "Results are reliable again";
  f.moves = kEcc, f.direction = -1;
  f.confidence = "high: counted by the device";
  return Fires(errors, f);
}

}  // namespace

std::vector<Rule> GpuRules() {
  return {
      {{"gpu_idle", "the GPU is active < 50 % of the time",
        "The GPU waits for observations, or gets too little work at a time.",
        "raise rollout.num_envs_per_env_runner, and rollout.num_env_runners up to the cores; then set options that declare to "
        "help: larger batches, mixed precision",
        "50 % busy: torch_tb_profiler. A GPU counts as active while any kernel runs, so the rule misses GPUs that are active "
        "with little to do (see launch_bound). If envs and transfers take more than 50 % of the threads' busy time, the GPU "
        "waits for them."},
       fmt::format("a granted GPU; {}; phase/*", kGpuUse),
       GpuIdle},
      {{"gpu_saturated", "the GPU is active >= 95 % of the time, and twice the envs gave < 10 % more SPS",
        "The device limits the speed; more envs only wait for the device.",
        "set options that declare to help: a larger minibatch, a smaller net, mixed precision",
        "95 %: this project, without a published source. If few units are in use, launch_bound fires instead."},
       fmt::format("a granted GPU; {}; SPS of two settings", kGpuUse),
       GpuSaturated},
      {{"launch_bound", "the GPU is active >= 75 % of the time with < 30 % of its units in use",
        "There are many small kernels, which take longer to start than to run.",
        "set options that declare to help: a larger minibatch, a fused path",
        "75 and 30 %: this project, without a published source."},
       fmt::format("a granted GPU; {}; {} (GPM, Hopper or newer)", kGpuUse, kUnits),
       LaunchBound},
      {{"vram_near_limit", "GPU memory in use reached > 90 %", "A slightly larger batch may run out of memory.",
        "set options that declare to help: smaller micro-batches with more accumulation", "90 %: torch_tb_profiler."},
       fmt::format("a granted GPU; {}", kVram),
       VramNearLimit},
      {{"clock_throttled", "bits 0x4, 0x8, 0x20, 0x40 or 0x80 of the clock events are set for > 5 % of the time",
        "Power or heat slows the device down. Times of this batch cannot be compared with other batches.",
        "leave the file as it is; raise the power limit, improve the cooling, or use a device with idle neighbours",
        "5 %: this project, without a published source; nvml.h defines the bits."},
       fmt::format("a granted GPU; {}", kClocks),
       ClockThrottled},
      {{"gpu_memory_errors", "ECC detected an error of the GPU's memory that it could not correct",
        "The device's memory is damaged or overheated, so results of this batch may be wrong.",
        "repeat the batch on a different device; reset or replace this one", "One error: the counter of nvml.h."},
       fmt::format("a granted GPU with ECC; {}", kEcc),
       GpuMemoryErrors},
  };
}

}  // namespace backplane
