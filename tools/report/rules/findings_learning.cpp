// Rules about learning: returns that were reached and lost, and updates or trials that ran out of memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/series.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr double kLostShare = 0.5, kStandardErrors = 3;
constexpr size_t kLeastReturns = 40, kWindows = 8;

struct Window {
  double mean = 0, variance_of_mean = 0;
  uint64_t last_iteration = 0;
};

// Splits the curve into windows of equal length, full ones at the end. Skips windows without a value.
std::vector<Window> WindowsOf(const std::vector<CurvePoint>& curve) {
  std::vector<CurvePoint> finite;
  std::copy_if(curve.begin(), curve.end(), std::back_inserter(finite), [](const auto& p) { return std::isfinite(p.value); });
  if (finite.size() < kLeastReturns) return {};
  const size_t length = finite.size() / kWindows;
  std::vector<Window> windows;
  for (size_t begin = finite.size() % kWindows; begin < finite.size(); begin += length) {
    std::vector<double> values;
    for (size_t i = begin; i < begin + length; ++i) values.push_back(finite[i].value);
    const Number mean = Mean(values, "iterations");
    windows.push_back(
        {mean.value, std::pow(mean.sd.value_or(0), 2) / static_cast<double>(length), finite[begin + length - 1].iteration});
  }
  return windows;
}

// The share of the best window's gain over an untrained policy that the last window lost.
struct Loss {
  double share = 0;
  Window best, last;
  bool is_above_floor = false;  // the last window, by more than the noise
};

std::optional<Loss> LossOf(const TrialData& trial, double floor) {
  const auto curve = trial.curves.find("return");
  const std::vector<Window> windows = curve == trial.curves.end() ? std::vector<Window>{} : WindowsOf(curve->second);
  if (windows.empty()) return std::nullopt;
  const Window best = *std::max_element(windows.begin(), windows.end(), [](auto& a, auto& b) { return a.mean < b.mean; });
  const Window& last = windows.back();
  const double gained = best.mean - std::max(windows.front().mean, floor), lost = best.mean - last.mean;
  const double noise = std::sqrt(best.variance_of_mean + last.variance_of_mean);
  const bool is_clear = gained > kStandardErrors * noise && lost > kStandardErrors * noise;
  return Loss{is_clear ? lost / gained : 0, best, last, last.mean - floor > kStandardErrors * noise};
}

// The size of policy updates, by common metric names of learners.
struct Movement {
  const char* measure;
  double limit;
  const char* unit;
};
constexpr Movement kMovements[] = {{"train/kl", 0.03, "nat"}, {"train/clip_fraction", 0.3, "of the samples"}};

// The measure furthest beyond its limit, as a mean after the best window. Absent if the learner records none.
std::optional<Evidence> MovedBy(const TrialData& trial, uint64_t best) {
  std::optional<Evidence> most;
  for (const Movement& movement : kMovements) {
    const auto curve = trial.curves.find(movement.measure);
    if (curve == trial.curves.end()) continue;
    std::vector<double> values;
    for (const CurvePoint& point : curve->second) {
      if (point.iteration > best && std::isfinite(point.value)) values.push_back(point.value);
    }
    if (values.empty()) continue;
    const Evidence evidence{movement.measure, Mean(values, "iterations").value, movement.limit, movement.unit,
                            fmt::format("mean after iteration {}", best)};
    if (!most || evidence.value / *evidence.threshold > most->value / *most->threshold) most = evidence;
  }
  return most;
}

constexpr const char *kWeightNorm = "train/weight_norm", *kSpread = "train/return_std";
constexpr double kGrownNorm = 1.2, kCollapsedShare = 0.1;

// The growth of the weights' norm since the best window, for learners without a divergence of policies. Absent: not recorded.
std::optional<Evidence> GrownBy(const TrialData& trial, uint64_t best) {
  const auto curve = trial.curves.find(kWeightNorm);
  if (curve == trial.curves.end()) return std::nullopt;
  double before = 0, after = 0;
  for (const CurvePoint& point : curve->second)
    if (std::isfinite(point.value)) (point.iteration <= best ? before : after) = point.value;
  if (before <= 0 || after <= 0) return std::nullopt;
  return Evidence{kWeightNorm, after / before, kGrownNorm, "times the earlier value", fmt::format("since iteration {}", best)};
}

struct Losses {
  size_t long_enough = 0, told = 0, unstable = 0;  // trials
  std::optional<Loss> worst = {};                  // of the unstable ones
  Evidence moved = {};                             // in the worst one
};

Losses FindLosses(const std::vector<const TrialData*>& trials, double floor) {
  Losses losses;
  for (const TrialData* trial : trials) {
    const std::optional<Loss> loss = LossOf(*trial, floor);
    if (!loss) continue;
    ++losses.long_enough;
    std::optional<Evidence> by = MovedBy(*trial, loss->best.last_iteration);
    if (!by) by = GrownBy(*trial, loss->best.last_iteration);
    losses.told += by ? 1 : 0;
    if (loss->share <= kLostShare || !by || by->value <= *by->threshold) continue;
    ++losses.unstable;
    if (!losses.worst || loss->share > losses.worst->share) losses.worst = loss, losses.moved = *by;
  }
  return losses;
}

RuleVerdict UnstableLearning(const Case& c) {
  const std::optional<double> floor = c.Value("floor_uniform/return");
  if (!floor) return Silent(NotMeasured(c, "floor_uniform/return"));
  const auto [long_enough, told, unstable, worst, moved] = FindLosses(c.trials, *floor);
  if (long_enough == 0) return Silent(fmt::format("a return in fewer than {} iterations", kLeastReturns));
  // If the best window is the last one, there is no loss to explain.
  const auto measured = [&](const char* name) { return c.MeasuredAny(name); };
  if (told == 0 && !measured("train/kl") && !measured("train/clip_fraction") && !measured(kWeightNorm))
    return Silent("train/kl, train/clip_fraction and train/weight_norm were not measured");
  if (2 * unstable <= c.trials.size()) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The return rose to {:.5g} and fell back to {:.5g}", worst->best.mean, worst->last.mean);
  f.evidence = {{"return", 100 * worst->share, 100 * kLostShare, "% of the gain lost",
                 fmt::format("the best of {} windows was at iteration {}; uniform actions return {:.5g}", kWindows,
                             worst->best.last_iteration, *floor)},
                moved};
  f.effect = "The policy changes in smaller steps: the return rises more slowly and does not fall back";
  f.moves = "return", f.direction = 1;
  f.confidence = c.trials.size() > 1 ? fmt::format("medium: {} of {} seeds", unstable, c.trials.size()) : "low: one seed";
  AddOptionFixes(c, "unstable_learning", &f.fixes);
  return Fires(worst->share, f);
}

// The largest and the last mean of the candidates' spread over windows of the iterations.
struct SpreadFall {
  double largest = 0, last = 0;
};
std::optional<SpreadFall> SpreadOf(const TrialData& trial) {
  const auto curve = trial.curves.find(kSpread);
  const std::vector<Window> windows = curve == trial.curves.end() ? std::vector<Window>{} : WindowsOf(curve->second);
  if (windows.empty()) return std::nullopt;
  SpreadFall fall{0, windows.back().mean};
  for (const Window& window : windows) fall.largest = std::max(fall.largest, window.mean);
  return fall;
}

// Candidates whose returns hardly differ give no direction. If the return is at its best, that is the goal and no fault.
RuleVerdict SpreadCollapsed(const Case& c) {
  if (std::ranges::none_of(c.trials, [](const TrialData* trial) { return trial->curves.contains(kSpread); })) return Quiet();
  const std::optional<double> floor = c.Value("floor_uniform/return");
  if (!floor) return Silent(NotMeasured(c, "floor_uniform/return"));
  size_t known = 0, collapsed = 0;
  SpreadFall worst;
  for (const TrialData* trial : c.trials) {
    const std::optional<SpreadFall> fall = SpreadOf(*trial);
    const std::optional<Loss> loss = LossOf(*trial, *floor);
    if (!fall || !loss) continue;
    ++known;
    const bool at_best = loss->is_above_floor && loss->share <= kLostShare;
    if (at_best || fall->last >= kCollapsedShare * fall->largest) continue;
    if (++collapsed == 1 || fall->last / fall->largest < worst.last / worst.largest) worst = *fall;
  }
  if (known == 0) return Silent(fmt::format("{} and a return of {} iterations were not recorded", kSpread, kLeastReturns));
  if (2 * collapsed <= c.trials.size()) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The spread of the candidates' returns fell from {:.3g} to {:.3g}", worst.largest, worst.last);
  f.evidence = {{kSpread, 100 * worst.last / worst.largest, 100 * kCollapsedShare, "% of its largest value",
                 fmt::format("mean of the last of {} windows", kWindows)}};
  f.effect = "The candidates' returns differ again, so an update has a direction and the return can rise";
  f.moves = "return", f.direction = 1;
  f.confidence = c.trials.size() > 1 ? fmt::format("medium: {} of {} seeds", collapsed, c.trials.size()) : "low: one seed";
  AddOptionFixes(c, "spread_collapsed", &f.fixes);
  return Fires(worst.largest / std::max(worst.last, 1e-12), f);
}

// Replaces a micro-batch that did not fit by the size that did, with the same update: twice the parts at half the size. The
// three sizes, of which two determine the third, are keys of the experiment file for any learner.
void AddWhatFitted(const Case& c, const OptionHelp& option, const TrialData& trial, std::vector<Fix>* fixes) {
  const std::string section = option.path.substr(0, option.path.rfind('.') + 1);
  const auto count = [&](const std::string& path) {
    const nlohmann::json value = c.At(path);
    return value.is_number() ? value.get<double>() : 0;
  };
  const double failed = static_cast<double>(trial.shrinks.front().micro_batch_before),
               fitted = static_cast<double>(trial.shrinks.back().micro_batch_after);
  const double size = count(option.path);
  if (fitted < 1 || (size != failed && size != 0)) return;
  const std::string parts_path = section + "gradient_accumulation_steps", whole_path = section + "effective_batch_size";
  const double parts = count(parts_path), wanted = std::max(1.0, parts) * failed / fitted;
  const bool follows = c.At(parts_path).is_null() || (parts == 0 && count(whole_path) > 0);
  if (!follows && (wanted != std::floor(wanted) || c.Sweeps(parts_path))) return;
  const size_t known = fixes->size();
  AddFix(c, option.path, static_cast<int64_t>(fitted), fixes);
  if (fixes->size() > known && !follows) fixes->back().also = {{parts_path, static_cast<int64_t>(wanted)}};
}

// Halves resources.device_memory, a size or a percentage. Each process of a trial that uses the GPU may fill it up to this
// limit.
void AddHalfOfDevice(const Case& c, std::vector<Fix>* fixes) {
  constexpr char kPath[] = "resources.device_memory";
  const nlohmann::json limit = c.At(kPath);
  if (!c.HasGpu() || !limit.is_string()) return;
  const std::string text = limit.get<std::string>();
  if (const auto percent = ParsePercent(text)) AddFix(c, kPath, FormatPercent(*percent / 2), fixes);
  if (const auto bytes = ParseSize(text)) AddFix(c, kPath, FormatSize(*bytes / 2), fixes);
}

// This rule tests trials that ended this way (Rule::sees_out_of_memory).
RuleVerdict OutOfMemory(const Case& c) {
  size_t ended = 0;
  std::string why;
  const TrialData* shrunk = nullptr;
  for (const TrialData* trial : c.trials) {
    if (!shrunk && !trial->shrinks.empty()) shrunk = trial;
    if (trial->usable() || trial->outcome != Outcome::kOom) continue;
    ++ended;
    why = trial->why;
  }
  if (ended == 0 && !shrunk) return Quiet();
  Finding f;
  f.severity = ended > 0 ? Severity::kSerious : Severity::kWarning;
  f.moves = "rss_peak_mb", f.direction = -1;
  if (ended > 0) {
    f.title = fmt::format("{} of {} trials ran out of memory", ended, c.trials.size());
    f.evidence = {{"trials", static_cast<double>(ended), 0, "out of memory", why.empty() ? "whole trial" : why}};
    f.effect = "The trial needs less memory at a time and completes";
    AddHalved(c, kRowsPath, "[1,)", &f.fixes);
  } else {
    const Shrink& last = shrunk->shrinks.back();
    const double before = static_cast<double>(shrunk->shrinks.front().micro_batch_before),
                 after = static_cast<double>(last.micro_batch_after);
    f.title = fmt::format("{:g} items at a time did not fit into the device's memory, {:g} did", before, after);
    f.evidence = {{"items at a time", after, before, "items", fmt::format("since iteration {}", last.iteration)}};
    f.effect = "The updates stay the same, without failed attempts";
    for (const OptionHelp& option : *c.options) {
      if (option.finding == "out_of_memory" && option.direction < 0) AddWhatFitted(c, option, *shrunk, &f.fixes);
    }
  }
  f.confidence = "high: it happened";
  AddOptionFixes(c, "out_of_memory", &f.fixes);
  if (ended > 0) AddHalfOfDevice(c, &f.fixes);
  return Fires(static_cast<double>(ended), f, ended > 0 ? "trial" : "update");
}

}  // namespace

std::vector<Rule> LearningRules() {
  return {
      {{"unstable_learning",
        "in more than half of the seeds, the return of the last eighth of the iterations has lost > 50 % of its gain. The gain "
        "is the best eighth minus the first eighth, or minus the return of uniform actions. Gain and loss are > 3 standard "
        "errors, and since the best eighth train/kl is > 0.03 nat or train/clip_fraction > 0.3. For learners that record "
        "neither, train/weight_norm grew by > 20 %",
        "Each update changed the policy more than the data of one iteration justify, which overwrites earlier learning.",
        "set options that declare to help: a smaller step, less noise",
        "50 %, 3, and the two limits: thresholds of this project. Usual KL targets are 0.01 to 0.02; a clip range of 0.2 "
        "mostly clips 10 to 20 % of the samples."},
       fmt::format("the return of at least {} iterations, floor_uniform/return, and train/kl, train/clip_fraction or {}",
                   kLeastReturns, kWeightNorm),
       UnstableLearning,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"spread_collapsed",
        "in more than half of the seeds, train/return_std of the last eighth of the iterations is < 10 % of its largest "
        "eighth, and the return is not at its best",
        "All candidates have about the same return, so an update has no direction.",
        "set options that declare to help: more noise, a smaller step",
        "10 %: this project, without a published source. At the best return, equal candidates are the goal and no fault."},
       fmt::format("{} and the return of at least {} iterations, floor_uniform/return", kSpread, kLeastReturns),
       SpreadCollapsed,
       /*sees_out_of_memory=*/false,
       /*holds_when_busy=*/true},
      {{"out_of_memory", "a trial ran out of memory, or an update had to be computed in smaller parts",
        "The trial needed more memory at a time than there is.",
        "lower rollout.num_envs_per_env_runner, or set options that declare to help: smaller batches, smaller micro-batches; "
        "on a "
        "GPU shared by several processes, lower resources.device_memory",
        "None: it happened."},
       "how the trials ended",
       OutOfMemory,
       /*sees_out_of_memory=*/true,
       /*holds_when_busy=*/true},
  };
}

}  // namespace backplane
