// Rules about the learning itself: a return that was reached and lost, and updates or trials that did not fit into memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/finding_fix.hpp"
#include "analysis/finding_rule.hpp"
#include "analysis/series.hpp"

namespace backplane {
namespace {

constexpr double kLostShare = 0.5, kStandardErrors = 3;
constexpr size_t kLeastReturns = 40, kWindows = 8;

struct Window {
  double mean = 0, variance_of_mean = 0;
  uint64_t last_iteration = 0;
};

// The curve cut into windows of equal length, the last ones whole; those without a value left out.
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

// How much of what was gained from the first window to the best one is gone in the last.
struct Loss {
  double share = 0;
  Window first, best, last;
};

std::optional<Loss> LossOf(const TrialData& trial) {
  const auto curve = trial.curves.find("return");
  const std::vector<Window> windows = curve == trial.curves.end() ? std::vector<Window>{} : WindowsOf(curve->second);
  if (windows.empty()) return std::nullopt;
  const Window best = *std::max_element(windows.begin(), windows.end(), [](auto& a, auto& b) { return a.mean < b.mean; });
  const Window &first = windows.front(), &last = windows.back();
  const double gained = best.mean - first.mean, lost = best.mean - last.mean;
  const double noise = std::sqrt(best.variance_of_mean + last.variance_of_mean);
  const bool is_clear = gained > kStandardErrors * noise && lost > kStandardErrors * noise;
  return Loss{is_clear ? lost / gained : 0, first, best, last};
}

RuleVerdict UnstableLearning(const Case& c) {
  std::optional<Loss> worst;
  for (const TrialData* trial : c.trials) {
    const std::optional<Loss> loss = LossOf(*trial);
    if (loss && (!worst || loss->share > worst->share)) worst = loss;
  }
  if (!worst) return Silent(fmt::format("a return in fewer than {} iterations", kLeastReturns));
  if (worst->share <= kLostShare) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("The return rose to {:.5g} and fell back to {:.5g}", worst->best.mean, worst->last.mean);
  f.evidence = {{"return", 100 * worst->share, 100 * kLostShare, "% of the gain lost",
                 fmt::format("from {:.5g} at first to the best of {} windows, at iteration {}", worst->first.mean, kWindows,
                             worst->best.last_iteration)}};
  f.effect = "Smaller changes of the policy: the return rises more slowly and stays";
  f.moves = "return", f.direction = 1;
  f.confidence = c.trials.size() > 1 ? fmt::format("medium: the worst of {} seeds", c.trials.size()) : "low: one seed";
  AddOptionFixes(c, "unstable_learning", &f.fixes);
  return Fires(worst->share, f);
}

// Trials that ended so are what this rule is for, and so it sees them (Rule::sees_out_of_memory).
RuleVerdict OutOfMemory(const Case& c) {
  size_t ended = 0;
  std::string why;
  const ShrinkRecord* shrink = nullptr;
  for (const TrialData* trial : c.trials) {
    if (!shrink && !trial->shrinks.empty()) shrink = &trial->shrinks.back();
    if (trial->usable() || trial->outcome != "oom") continue;
    ++ended;
    why = trial->why;
  }
  if (ended == 0 && !shrink) return Quiet();
  Finding f;
  f.severity = ended > 0 ? Severity::kSerious : Severity::kWarning;
  f.moves = "rss_peak_mb", f.direction = -1;
  if (ended > 0) {
    f.title = fmt::format("{} of {} trials ran out of memory", ended, c.trials.size());
    f.evidence = {{"trials", static_cast<double>(ended), 0, "out of memory", why.empty() ? "whole trial" : why}};
    f.effect = "Less memory at once; the trial gets through";
    AddHalved(c, kRowsPath, "[1,)", &f.fixes);
  } else {
    f.title = fmt::format("{:g} items at once did not fit the device, {:g} did", shrink->before, shrink->after);
    f.evidence = {
        {"items at once", shrink->after, shrink->before, "items", fmt::format("since iteration {:g}", shrink->iteration)}};
    f.effect = "The same update from the start, without attempts that fail";
  }
  f.confidence = "high: it happened";
  AddOptionFixes(c, "out_of_memory", &f.fixes);
  return Fires(static_cast<double>(ended), f, ended > 0 ? "trial" : "update");
}

}  // namespace

std::vector<Rule> LearningRules() {
  return {
      {{"unstable_learning",
        "of what the return gained from the first eighth of the iterations to the best eighth, the last eighth has lost "
        "> 50 %, and gain and loss are > 3 standard errors",
        "The policy was changed by more than the data of an iteration tell: what was learned is overwritten.",
        "what the options declare to help: a smaller step, less noise",
        "50 % and 3: this project, without a published source."},
       fmt::format("the return of at least {} iterations", kLeastReturns),
       UnstableLearning},
      {{"out_of_memory", "a trial ended for want of memory, or an update had to be computed in smaller parts",
        "What is computed at once takes more memory than there is.",
        "rollout.num_envs_per_env_runner down, and what the options declare to help: smaller batches, smaller micro-batches",
        "None: it happened."},
       "how the trials ended",
       OutOfMemory,
       true},
  };
}

}  // namespace backplane
