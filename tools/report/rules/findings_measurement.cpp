// Rules about the measurement: reasons to distrust a number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "results/series.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr double kNoisePct = 5;
// The precision of a coefficient of variation improves slowly: 10 values give it to a quarter. Seeds are expensive, and a
// single deviating one is worth a report.
constexpr size_t kLeastSeeds = 3, kLeastIterations = 10, kLeastForOutliers = 5;
constexpr double kLeastSeconds = 5;  // shorter measurements show the machine waking up

// The spread of repeated measurements of one speed.
struct Noise {
  double cv_pct = 0;
  size_t n = 0, outliers = 0, far = 0;  // beyond 1.5 and 3 interquartile ranges
  std::string of;

  bool fires() const { return cv_pct > kNoisePct || outliers > 0; }
};

// Absent with too few values.
std::optional<Noise> NoiseOf(std::vector<double> values, std::string of, size_t at_least) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.size() < at_least) return std::nullopt;
  const Number mean = Mean(values, of);
  if (mean.value <= 0) return std::nullopt;
  Noise noise{100 * mean.sd.value_or(0) / mean.value, values.size(), 0, 0, std::move(of)};
  if (values.size() < kLeastForOutliers) return noise;
  std::sort(values.begin(), values.end());
  const double q1 = Quantile(values, 0.25), q3 = Quantile(values, 0.75), median = Quantile(values, 0.5);
  for (const double v : values) {
    const double beyond = std::max(q1 - v, v - q3);
    // Tukey's fences mark an outlier in about every sixth set of 20 normal values. Outliers close to the median need no new
    // measurement.
    if (beyond <= 1.5 * (q3 - q1) || std::abs(v - median) <= kNoisePct / 100 * median) continue;
    ++noise.outliers;
    if (beyond > 3 * (q3 - q1)) ++noise.far;
  }
  return noise;
}

std::vector<double> WarmIterations(const TrialData& trial) {
  std::vector<double> values;
  const auto curve = trial.curves.find("SPS");
  if (curve == trial.curves.end()) return values;
  for (const CurvePoint& point : curve->second) {
    if (!point.warms_up) values.push_back(point.value);
  }
  return values;
}

// Doubles the time per point if trials run until their speed is precise.
void AddMoreTime(const Case& c, std::vector<Fix>* fixes) {
  const nlohmann::json time = c.At("report.max_time");
  const std::optional<double> seconds = time.is_string() ? ParseDuration(time.get<std::string>()) : std::nullopt;
  if (seconds) AddFix(c, "report.max_time", FormatDuration(2 * *seconds), fixes);
}

// The larger noise: within a trial's iterations, or between seeds.
std::optional<Noise> WorstNoise(const Case& c) {
  std::vector<std::optional<Noise>> all;
  std::vector<double> seeds;
  for (const TrialData* trial : c.trials) {
    const Number* seconds = trial->Find("measured_s");
    if (!seconds || seconds->value >= kLeastSeconds)
      all.push_back(NoiseOf(WarmIterations(*trial), "iterations", kLeastIterations));
    if (const Number* sps = trial->Find("SPS")) seeds.push_back(sps->value);
  }
  all.push_back(NoiseOf(std::move(seeds), "seeds", kLeastSeeds));
  const auto worst = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (!a || !b) return !a && b.has_value();
    return std::pair(a->fires(), a->cv_pct) < std::pair(b->fires(), b->cv_pct);
  });
  return *worst;
}

RuleVerdict NoisyMeasurement(const Case& c) {
  const std::optional<Noise> noise = WorstNoise(c);
  if (!noise)
    return Silent(fmt::format("SPS has fewer than {} iterations after the first or less than {:g} s, and fewer than {} seeds",
                              kLeastIterations, kLeastSeconds, kLeastSeeds));
  if (!noise->fires()) return Quiet();
  Finding f;
  f.severity = noise->cv_pct > kNoisePct ? Severity::kWarning : Severity::kInfo;
  const std::string outliers =
      noise->outliers ? fmt::format("; outliers: {}, {} of them extreme", noise->outliers, noise->far) : "";
  f.title = fmt::format("SPS varies by {:.1f} % over {} {}{}", noise->cv_pct, noise->n, noise->of, outliers);
  const bool seeds = noise->of == "seeds";
  f.evidence = {{"SPS", noise->cv_pct, kNoisePct, "% coefficient of variation",
                 fmt::format("{} {}", noise->n, seeds ? "seeds" : "iterations after the first")}};
  if (noise->outliers) f.evidence.push_back({"SPS", static_cast<double>(noise->outliers), 0, "outliers", f.evidence[0].window});
  f.effect = "The expected speed does not change; four times as many measurements halve the width of its confidence interval";
  f.confidence = noise->n >= 10 ? "high: ten or more values" : fmt::format("medium: only {} values", noise->n);
  const uint64_t planned = c.planned_seeds;
  if (seeds) AddFix(c, "sweep.seeds.n", planned, std::max<uint64_t>(5, 2 * planned), &f.fixes);
  const bool by_precision = !c.At("report.precision").is_null();
  if (!seeds && by_precision) AddMoreTime(c, &f.fixes);
  if (!seeds && !by_precision)
    AddDoubled(c, c.Count("budget.iterations") ? "budget.iterations" : "budget.env_steps", "[1,)", &f.fixes);
  return Fires(noise->cv_pct, f, noise->of);
}

// The trial with the widest interval relative to its goal; an unknown interval counts as the widest.
const TrialData* FarthestFromPrecise(const Case& c) {
  const TrialData* farthest = nullptr;
  const auto width = [](const TrialData& trial) {
    const Number* reached = trial.Find("precision/reached_pct");
    return reached ? reached->value : std::numeric_limits<double>::infinity();
  };
  for (const TrialData* trial : c.trials) {
    const Number* missed = trial->Find("precision/missed");
    if (missed && missed->value > 0 && (!farthest || width(*trial) > width(*farthest))) farthest = trial;
  }
  return farthest;
}

RuleVerdict PrecisionNotReached(const Case& c) {
  const TrialData* trial = FarthestFromPrecise(c);
  if (!trial) return Quiet();
  const double wanted = trial->Find("precision/wanted_pct")->value, seconds = trial->Find("precision/seconds")->value;
  const auto iterations = static_cast<uint64_t>(trial->Find("precision/iterations")->value);
  const Number* reached = trial->Find("precision/reached_pct");
  const std::string window =
      fmt::format("{} {} in {:.1f} s", iterations, iterations == 1 ? "iteration" : "iterations", seconds);
  Finding f;
  f.severity = Severity::kInfo;
  f.title = reached ? fmt::format("SPS is known to ± {:.1f} % after {}; report.precision asks for ± {:g} %", reached->value,
                                  window, wanted)
                    : fmt::format("SPS of {} has no interval; report.precision asks for ± {:g} %", window, wanted);
  f.evidence = reached ? std::vector<Evidence>{{"precision/reached_pct", reached->value, wanted, "%", window}}
                       : std::vector<Evidence>{{"precision/iterations", static_cast<double>(iterations), std::nullopt,
                                                iterations == 1 ? "iteration" : "iterations", window}};
  f.effect = "Four times as many iterations halve the width of the interval";
  f.confidence = "high: the trial recorded its interval";
  AddMoreTime(c, &f.fixes);
  return Fires(reached ? reached->value / wanted : static_cast<double>(kLeastIterations), f);
}

// The host plans one pool for everything: rollout.threads, or one thread per granted core. As many of them collect as there
// are runners, or all if rollout.threads is set.
RuleVerdict ThreadsMismatch(const Case& c) {
  const std::optional<double> pool = c.Value("learner_threads"), collecting = c.Value("threads");
  if (!pool) return Silent(NotMeasured(c, "learner_threads"));
  const std::optional<uint64_t> configured = c.Count("rollout.threads"), runners = c.Count(kRunnersPath);
  const uint64_t cores = c.trials.front()->cores.size();
  if (!configured && cores == 0) return Silent("the granted cores were not recorded");
  const auto planned = static_cast<double>(configured.value_or(cores));
  Finding f;
  f.severity = Severity::kWarning;
  f.moves = "SPS", f.direction = 1;
  f.effect = "All planned threads share the work, so SPS rises";
  f.confidence = "high: the trial recorded its threads";
  if (*pool != planned) {
    f.title = fmt::format("The learner has {:g} threads; {:g} were planned", *pool, planned);
    f.evidence = {{"learner_threads", *pool, planned, "threads", c.Window("learner_threads")}};
    return Fires(std::abs(*pool - planned), f, "pool");
  }
  const double collect_plan = configured || !runners ? planned : std::min(planned, static_cast<double>(*runners));
  if (!collecting || *collecting == collect_plan) return Quiet();
  f.title = fmt::format("{:g} threads collect; {:g} were planned", *collecting, collect_plan);
  f.evidence = {{"threads", *collecting, collect_plan, "threads", c.Window("threads")}};
  f.cause = "A plugin that is not thread-safe (no ROWS_CONCURRENT) limits the number of threads that collect.";
  return Fires(std::abs(*collecting - collect_plan), f, "collecting");
}

}  // namespace

std::vector<Rule> MeasurementRules() {
  return {
      {{"noisy_measurement",
        "SPS has a coefficient of variation > 5 % over ten or more iterations after the first, of 5 s or more, or over three "
        "or more seeds. The rule also fires if one of five or more values is a Tukey outlier (beyond 1.5 interquartile ranges; "
        "extreme: beyond 3) and > 5 % off the median",
        "The speed depends on something other than the setting: other programs, the machine's clock, episodes of uneven cost.",
        "raise budget.iterations, report.max_time or sweep.seeds.n; use a quiet machine",
        "5 %: this project, without a published source; the fences are Tukey's. Outliers close to the median do not count, "
        "because about every sixth sample of 20 normal values has one value beyond the fences."},
       "SPS of at least 10 iterations after the first and 5 s, or of at least 3 seeds",
       NoisyMeasurement},
      {{"precision_not_reached",
        "report.max_time ended a trial before the 95 % interval over its measured iterations was within report.precision of "
        "its speed",
        "Iterations are long for report.max_time, or their times differ: other programs, episodes of uneven cost.",
        "raise report.max_time; use a quiet machine",
        "The trial applied this rule itself. Seeds, not this interval, show if one setting is faster."},
       "the precision recorded by the trial, with report.precision set",
       PrecisionNotReached},
      {{"threads_mismatch",
        "the trial does not have the planned number of threads (rollout.threads, or the granted cores), or fewer threads "
        "collect than planned (min(runners, cores), or all if rollout.threads is set)",
        "The trial saw fewer cores than it was granted, or was not started as planned.",
        "leave the file as it is; check the trial's affinity and the plugins' flags",
        "No tolerance: one thread is enough. Only the host's threads count; LibTorch has one thread of its own, which is not "
        "measured."},
       "learner_threads and threads; rollout.threads or the granted cores",
       ThreadsMismatch},
  };
}

}  // namespace backplane
