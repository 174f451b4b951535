#include "kinds/ab_scores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "kinds/comparison_scores.hpp"
#include "record/compare_looks.hpp"
#include "results/reduction.hpp"
#include "statistics/permutation.hpp"

namespace backplane {
namespace {

using nlohmann::json;

MeasureSpec SpecOf(const std::string& metric, const Combined& combined) {
  std::optional<MeasureSpec> read = MeasureOfText(metric);
  if (!read) throw std::runtime_error(fmt::format("compare.metric: expected a measure, got '{}'", metric));
  MeasureSpec measure = *std::move(read);
  const auto reduced = measure.IsOneName() ? SplitReducedName(metric) : std::nullopt;
  for (const CombinedTrial& trial : combined.trials) {
    const auto said = trial.data.registered.find(reduced ? reduced->curve : metric);
    if (said == trial.data.registered.end()) continue;
    if (measure.direction == 0) measure.direction = said->second.direction;
    if (measure.unit.empty()) measure.unit = reduced ? UnitAfter(reduced->how, said->second.unit) : said->second.unit;
  }
  return measure;
}

const TrialData& FirstOf(const Combined& combined, const ComparedPoint& point) {
  return combined.trials[point.trials.front()].data;
}

// Explains a difference between the arms' budgets: with unequal ones, the longer arm wins.
std::string UnequalBudgets(const Combined& combined, const std::vector<ComparedPoint>& points) {
  const json first = FirstOf(combined, points.front()).At("budget");
  for (const ComparedPoint& point : points) {
    const json other = FirstOf(combined, point).At("budget");
    if (other != first)
      return fmt::format("The arms have unequal budgets: {} has {}, {} has {}.", points.front().name, JsonText(first),
                         point.name, JsonText(other));
  }
  return "";
}

// A schedule that kept an earlier budget is a different training.
std::string OtherSchedules(const Combined& combined, const std::vector<ComparedPoint>& points) {
  const auto schedule = [&](const ComparedPoint& point) { return FirstOf(combined, point).At("schedule_budget"); };
  for (const ComparedPoint& point : points)
    if (schedule(point) != schedule(points.front()))
      return fmt::format("The schedules of the arms follow different budgets (run --keep-schedule): {} has {}, {} has {}.",
                         points.front().name, JsonText(schedule(points.front())), point.name, JsonText(schedule(point)));
  return "";
}

// Trials that end when they are good have no last values to compare.
std::string Biased(const Combined& combined, const std::string& metric) {
  for (const CombinedTrial& trial : combined.trials) {
    const std::optional<Goal> until = GoalOfConfig(trial.data.config);
    const std::string why = until ? WhyNotComparable(*until, metric) : "";
    if (!why.empty()) return fmt::format("compare.metric: {}.", why);
  }
  return "";
}

// Returns of two envs have no scale in common. Versions of one are named by their files.
std::string OtherEnvs(const Combined& combined, const std::vector<ComparedPoint>& points) {
  const auto env = [&](const ComparedPoint& point) { return Text(FirstOf(combined, point).At("env.plugin")); };
  for (const ComparedPoint& point : points) {
    const bool is_file = env(point).find('/') != std::string::npos || env(points.front()).find('/') != std::string::npos;
    if (!is_file && env(point) != env(points.front()))
      return fmt::format("The arms have different envs: {} has {}, {} has {}.", points.front().name, env(points.front()),
                         point.name, env(point));
  }
  return "";
}

std::string UnequalSeeds(const Combined& combined, const std::vector<ComparedPoint>& points) {
  const auto seeds = [&](const ComparedPoint& point) {
    std::set<uint64_t> out;
    for (const size_t t : point.trials) out.insert(combined.trials[t].data.seed);
    return out;
  };
  for (const ComparedPoint& point : points) {
    if (seeds(point) != seeds(points.front()))
      return fmt::format("{} and {} ran with different seeds, so good or bad luck of a seed does not cancel out.",
                         points.front().name, point.name);
  }
  return "";
}

// Marks a block if other programs disturbed any of its trials in either arm.
std::vector<char> Disturbed(const Combined& combined, const std::vector<ComparedPoint>& points, const Diagnosis& diagnosis) {
  std::vector<char> out;
  for (const ComparedPoint& point : points) {
    out.resize(std::max(out.size(), point.trials.size() / 2), 0);
    for (size_t i = 0; i + 1 < point.trials.size(); i += 2) {
      for (const size_t t : {point.trials[i], point.trials[i + 1]}) {
        if (diagnosis.void_trials.contains(combined.trials[t].data.trial_id)) out[i / 2] = 1;
      }
    }
  }
  return out;
}

// "3 seeds", "3 and 25 seeds".
std::string SeedsText(const std::vector<size_t>& counts) {
  const bool equal = std::ranges::adjacent_find(counts, std::ranges::not_equal_to()) == counts.end();
  return equal ? fmt::format("{} seeds", counts.front()) : fmt::format("{} seeds", fmt::join(counts, " and "));
}

// A sentence for the verdict if less was measured than usual, because the measurements decide which blocks are set aside.
std::string LessIsSetAside(const Combined& combined) {
  bool waits = false, samples = false;
  for (const CombinedTrial& trial : combined.trials) {
    const SignsOfOthers signs = SignsOfOthersIn(trial.data);
    waits = waits || signs.waits;
    samples = samples || signs.samples;
  }
  if (samples) return "";
  const char* nothing = "No monitor sampled the machine (monitors: []), so ";
  return waits ? nothing + std::string("a block is discarded only if threads of its own trials waited for a core.")
               : nothing + std::string("no block can be discarded, even if other programs disturbed the block.");
}

// A sentence if not every run of the arm has a finite score.
std::string WhyMissing(const ComparedPoint& arm, const SeedScores& scores, const std::string& metric) {
  const size_t runs = arm.trials.size(), missing = runs - scores.values.size();
  const auto not_finite = std::ranges::count_if(scores.values, [](double value) { return !std::isfinite(value); });
  if (scores.incomplete)
    return fmt::format("{} of {} runs of {} must run again: they have not ended, or a cause outside of them stopped them.",
                       missing, runs, arm.name);
  if (missing > 0) return fmt::format("{} of {} runs of {} have no {}.", missing, runs, arm.name, metric);
  if (not_finite > 0) return fmt::format("{} of {} runs of {} have no finite {}.", not_finite, runs, arm.name, metric);
  return "";
}

// Arms with all their scores keep their verdicts if at least two are left. A joint verdict on several tasks needs every arm.
void SettleMissing(const CompareTerms& terms, AbScores* scores) {
  const auto whole = std::ranges::count_if(scores->arms, [](const ArmScores& arm) { return arm.why_missing.empty(); });
  if (terms.tasks.empty() && whole >= 2) return;
  for (ArmScores& arm : scores->arms) {
    if (arm.why_missing.empty()) continue;
    scores->whys_invalid.push_back(arm.why_missing);
    arm.why_missing.clear();
  }
}

// Two or more arms have to share everything but the change.
void CheckConditions(const Combined& combined, const std::vector<ComparedPoint>& points, AbScores* out) {
  const auto invalid = [&](const std::string& why) {
    if (!why.empty()) out->whys_invalid.push_back(why);
  };
  invalid(UnequalBudgets(combined, points));
  invalid(OtherSchedules(combined, points));
  invalid(Biased(combined, out->metric.expression.text()));
  if (const std::string seeds = UnequalSeeds(combined, points); !seeds.empty()) out->warnings.push_back(seeds);
  if (!out->terms.speed) invalid(OtherEnvs(combined, points));
  if (out->terms.speed && combined.groups.size() > 1)
    invalid("The arms ran on different machines or builds, so their speeds cannot be compared.");
}

void AddCpuTimes(const Combined& combined, const Scoring& scoring, AbScores* out) {
  const MeasureSpec cpu = SpecOf("cpu_s", combined);
  for (size_t i = 0; i < out->arms.size(); ++i) {
    std::vector<double> values = scoring.Scores(i, cpu).values;
    if (values.size() == out->arms[i].values.size()) out->arms[i].cpu_s = std::move(values);
  }
}

size_t FewestScores(const AbScores& scores) {
  size_t fewest = SIZE_MAX;
  for (const ArmScores& arm : scores.arms)
    if (arm.why_missing.empty()) fewest = std::min(fewest, arm.values.size());
  return fewest;
}

}  // namespace

std::string WhyNeverToldApart(const AbScores& scores) {
  const size_t arms = scores.arms.size();
  if (scores.terms.speed || arms < 2) return "";
  std::vector<size_t> counts;
  for (const ArmScores& arm : scores.arms)
    if (arm.why_missing.empty()) counts.push_back(arm.values.size());
  if (std::ranges::find(counts, size_t{0}) != counts.end()) return "";
  // By Holm the least p of all pairs is multiplied by their number.
  const double pairs = static_cast<double>(arms * (arms - 1)) / 2;
  for (size_t i = 0; i < counts.size(); ++i) {
    for (size_t j = i + 1; j < counts.size(); ++j)
      if (pairs * statistics::LeastUnpairedP(counts[i], counts[j]) <= scores.terms.alpha) return "";
  }
  CompareTerms once;
  once.alpha = scores.terms.alpha;
  once.looks.max = 1;
  return fmt::format("{} can never show a difference at {:g} %; use {} or more per arm.", SeedsText(counts),
                     scores.terms.alpha * 100, LeastScoresOfALook(once, arms));
}

std::string MetricOf(const CompareTerms& terms, const Combined& combined) {
  if (terms.metric) return *terms.metric;
  for (const CombinedTrial& trial : combined.trials)
    if (const std::optional<Goal> until = GoalOfConfig(trial.data.config)) return until->StepsMeasure();
  const bool evaluated = std::ranges::any_of(
      combined.trials, [](const CombinedTrial& trial) { return trial.data.Find("eval/return") != nullptr; });
  return evaluated ? "eval/return" : "return";
}

AbScores ScoresOfArms(const Combined& combined, const std::vector<ComparedPoint>& points, const CompareTerms& terms,
                      bool one_look, const Diagnosis& diagnosis) {
  const std::string metric = MetricOf(terms, combined);
  AbScores out{SpecOf(metric, combined), {}, {}, {}, {}};
  if (terms.direction) out.metric.direction = *terms.direction == "up" ? 1 : -1;
  out.terms.direction = out.metric.direction;
  out.terms.speed = IsOfSpeed(metric);
  out.terms.goal = out.metric.StepsGoal();
  out.terms.margin_pct = terms.margin_pct();
  out.terms.alpha = terms.alpha;
  if (points.size() < 2)
    out.whys_invalid.push_back(
        fmt::format("There is {}; a comparison needs two or more.", points.empty() ? "no arm" : "only one arm"));
  if (out.terms.direction == 0)
    out.whys_invalid.push_back(fmt::format("The better direction of {} is unknown; set compare.direction.", metric));

  const Scoring scoring(combined, points);
  for (size_t i = 0; i < points.size(); ++i) {
    const SeedScores scores = scoring.Scores(i, out.metric);
    out.arms.push_back({points[i].name,
                        scores.values,
                        scores.diverged,
                        scores.below_floors,
                        {},
                        WhyMissing(points[i], scores, metric),
                        scores.runs,
                        scores.reached});
  }
  SettleMissing(terms, &out);
  if (points.size() >= 2) CheckConditions(combined, points, &out);
  if (out.terms.speed && metric != "cpu_s") AddCpuTimes(combined, scoring, &out);
  if (out.terms.speed) {
    out.terms.disturbed = Disturbed(combined, points, diagnosis);
    if (std::string less = LessIsSetAside(combined); !less.empty()) out.warnings.push_back(std::move(less));
  }
  const size_t fewest = FewestScores(out);
  out.terms.looks = one_look ? 1 : terms.looks.max;
  out.terms.scores = one_look ? (out.terms.speed ? fewest / 2 : fewest)
                              : ScoresOfALook(terms, points.size() * std::max<size_t>(1, terms.tasks.size()));
  return out;
}

}  // namespace backplane
