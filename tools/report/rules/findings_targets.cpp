// Rules about the use of a granted device. A missed target is no fault: the gap shows the possible gain.
#include <fmt/format.h>

#include "machine/resource_measures.hpp"
#include "results/series.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"

namespace backplane {
namespace {

constexpr double kUseTargetPct = resource_measure::kGpuUseTargetPct, kMemoryTargetPct = resource_measure::kGpuMemoryTargetPct;
constexpr const char *kUtil = resource_measure::kGpuUtilPct, *kMemory = resource_measure::kGpuMemoryPct,
                     *kPower = resource_measure::kGpuPowerW;

RuleVerdict UseTarget(const Case& c) {
  if (!c.HasGpu()) return Silent("the trials were granted no GPU");
  const std::optional<double> used = c.Value(kUtil);
  if (!used) return Silent(NotMeasured(c, kUtil));
  if (*used >= kUseTargetPct) return Quiet();
  Finding f;
  f.title = fmt::format("The GPU is active {:.0f} % of the time, the target is {:g} %", *used, kUseTargetPct);
  f.evidence = {{kUtil, *used, kUseTargetPct, "%", c.Window(kUtil)}};
  if (const std::optional<double> watts = c.Value(kPower)) f.evidence.push_back({kPower, *watts, {}, "W", c.Window(kPower)});
  f.effect = "Each call of the device serves more envs, so the device is active for longer and SPS rises";
  f.moves = kUtil, f.direction = 1;
  f.confidence = "medium: the trial may wait for something other than the GPU; see the phases";
  AddDoubled(c, kRowsPath, "[1,)", &f.fixes);
  AddOptionFixes(c, "gpu_use_target", &f.fixes);
  return Fires(kUseTargetPct - *used, f);
}

RuleVerdict MemoryTarget(const Case& c) {
  if (!c.HasGpu()) return Silent("the trials were granted no GPU");
  const std::optional<double> peak = c.Peak(kMemory);
  if (!peak) return Silent(NotMeasured(c, kMemory));
  if (*peak >= kMemoryTargetPct) return Quiet();
  Finding f;
  f.title = fmt::format("GPU memory reached {:.0f} %, the target is {:g} %", *peak, kMemoryTargetPct);
  f.evidence = {{kMemory, *peak, kMemoryTargetPct, "%", c.PeakWindow(kMemory)}};
  f.effect = "More envs or larger chunks use the idle memory";
  f.moves = kMemory, f.direction = 1;
  f.confidence = "medium: other programs' memory counts too";
  AddDoubled(c, kRowsPath, "[1,)", &f.fixes);
  AddOptionFixes(c, "gpu_memory_target", &f.fixes);
  return Fires(kMemoryTargetPct - *peak, f);
}

}  // namespace

std::vector<Rule> TargetRules() {
  return {
      {{"gpu_use_target", "the GPU is active < 90 % of the time, mean after the first iteration",
        "The device sometimes waits for the rest of the trial.",
        "raise rollout.num_envs_per_env_runner, and set options that declare to help",
        "90 %: a target of this project, missed by most trials whose envs run on processors. Compare the power that the "
        "finding shows: an active device that draws little power has little to do."},
       fmt::format("a granted GPU; {}; {} if available", kUtil, kPower),
       UseTarget},
      {{"gpu_memory_target", "GPU memory in use never reached 80 %", "The memory has room for more envs or larger chunks.",
        "raise rollout.num_envs_per_env_runner, and set options that declare to help", "80 %: a target of this project."},
       fmt::format("a granted GPU; {}", kMemory),
       MemoryTarget},
  };
}

}  // namespace backplane
