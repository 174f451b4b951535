#include "kinds/comparison_scores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json_fields.hpp"
#include "kinds/host_measures.hpp"
#include "machine/resource_measures.hpp"
#include "record/host_metrics.hpp"
#include "results/reduction.hpp"
#include "results/same_bits.hpp"
#include "statistics/several.hpp"
#include "statistics/student.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Ended for a reason that is not its own, or not at all: the same command, or --only-failed, runs it again.
bool IsToRunAgain(const TrialData& trial) {
  if (trial.usable()) return false;
  if (trial.state == TrialState::kPlanned || trial.state == TrialState::kRunning) return true;
  return trial.outcome == Outcome::kSignal || trial.outcome == Outcome::kTemp || trial.outcome == Outcome::kKilled ||
         trial.outcome == Outcome::kStale;
}

std::optional<double> ScoreOf(const TrialData& trial, const Expression& expression) {
  const std::optional<json> value = trial.usable() ? EvaluateIn(trial, expression) : std::nullopt;
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

// A result of its own, and no number: it is kept, or the points that diverge most would look best.
bool Diverged(const TrialData& trial, const std::optional<double>& score) {
  return trial.usable() ? score && !std::isfinite(*score) : trial.outcome == Outcome::kNan;
}

// A curve of the host or of the machine. All others belong to the experiment: a command registers none of its own.
bool IsOfMachine(const std::string& curve) {
  return FindHostMeasure(curve) != nullptr || curve.starts_with(resource_measure::kPrefix) ||
         std::any_of(std::begin(kHostMetrics), std::end(kHostMetrics),
                     [&](const HostMetric& metric) { return metric.name == curve; });
}

// "1 of 3 runs diverged, 1 of 3 runs failed"
std::string CountsOf(const std::map<std::string, size_t>& counts, size_t all) {
  std::string text;
  for (const auto& [what, n] : counts) text += fmt::format("{}{} of {} runs {}", text.empty() ? "" : ", ", n, all, what);
  return text;
}

// As EvaluateIn, but with the return of `floor` for the policy's. Absent if the expression uses no evaluation.
std::optional<double> FloorOf(const TrialData& trial, const Expression& expression, const std::string& floor) {
  const std::string evaluated = "eval/";
  bool any = false;
  try {
    const json value = expression.Evaluate([&](const std::string& name, std::string* why_not) {
      const bool of_evaluation = name.starts_with(evaluated);
      any = any || of_evaluation;
      std::optional<json> found = ValueIn(trial, of_evaluation ? floor + "/" + name.substr(evaluated.size()) : name);
      if (!found) *why_not = "not measured";
      return found;
    });
    return any && value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  } catch (const NoValue&) {
    return std::nullopt;
  }
}

bool HasSpread(const std::vector<double>& values) {
  return std::ranges::any_of(values, [&](double value) { return value != values.front(); });
}

bool IsIncomplete(const SeedScores& scores) { return scores.incomplete || scores.missing > 0; }

// By the fingerprints of the runs. Without any, equal scores with a spread have to do.
bool IsIdentical(const SeedScores& point, const SeedScores& base) {
  if (point.seeds != base.seeds || point.values != base.values || point.reached != base.reached) return false;
  return HaveSameBits(point.runs, base.runs).value_or(HasSpread(point.values));
}

PointVerdict Directed(bool more, int direction) {
  if (direction == 0) return more ? PointVerdict::kMore : PointVerdict::kLess;
  return more == (direction > 0) ? PointVerdict::kBetter : PointVerdict::kWorse;
}

// "both 500 on each of 5 seeds"
std::string OneValueText(const SeedScores& point, const SeedScores& base) {
  const size_t n = point.values.size(), m = base.values.size();
  return fmt::format("both {} on each of {} seeds", FormatNumber(Reading(point.values.front()), 4),
                     n == m ? std::to_string(n) : fmt::format("{} and {}", n, m));
}

std::string Words(PointVerdict verdict) {
  switch (verdict) {
    case PointVerdict::kIncomplete: return "incomplete";
    case PointVerdict::kNotFinite: return "not finite";
    case PointVerdict::kEndsAtGoal: return "no verdict: trials end at their goal (budget.until)";
    case PointVerdict::kOneSeed: return "no verdict: one seed";
    case PointVerdict::kTooFewSeeds: return "too few seeds";
    case PointVerdict::kBelowFloors: return "not better than doing nothing";
    case PointVerdict::kIdentical: return "identical, to the last bit";
    case PointVerdict::kOneValue: return "not separated by this metric";
    case PointVerdict::kNotShown: return "no difference shown";
    case PointVerdict::kBetter: return "better";
    case PointVerdict::kWorse: return "worse";
    case PointVerdict::kMore: return "more";
    case PointVerdict::kLess: break;
  }
  return "less";
}

// The verdict on a point that no test decides. Absent: it is tested.
std::optional<PointVerdict> WithoutTest(const SeedScores& point, const SeedScores& base) {
  if (IsIncomplete(point) || IsIncomplete(base)) return PointVerdict::kIncomplete;
  const auto finite = [](double value) { return std::isfinite(value); };
  for (const SeedScores* side : {&point, &base})
    if (!std::ranges::all_of(side->values, finite)) return PointVerdict::kNotFinite;
  const size_t fewer = std::min(point.values.size(), base.values.size());
  if (fewer < 2) return PointVerdict::kOneSeed;
  if (IsIdentical(point, base)) return PointVerdict::kIdentical;
  if (fewer < statistics::kLeastToJudge) return PointVerdict::kTooFewSeeds;
  const bool one_value = !HasSpread(point.values) && !HasSpread(base.values) && point.values.front() == base.values.front() &&
                         point.reached == base.reached;
  return one_value ? std::optional(point.below_floors ? PointVerdict::kBelowFloors : PointVerdict::kOneValue) : std::nullopt;
}

// "exact test, p = 0.029: neither side has a spread", "p = 0.02 but 0.18 after correction for 9 comparisons"
std::string EvidenceText(const statistics::Judgement& test, size_t comparisons, bool have_spread) {
  const std::string corrected = comparisons > 1 ? fmt::format(" after correction for {} comparisons", comparisons) : "";
  const bool is_told = test.verdict != statistics::Verdict::kNotShown;
  if (!is_told && test.p < 1 - statistics::kLevel)
    return fmt::format("p = {:.2g} but {:.2g}{}", test.p, test.adjusted_p, corrected);
  if (!test.exact) return "";
  const char* reason = have_spread ? "all scores have one of two values" : "neither side has a spread";
  return fmt::format("exact test, p = {:.2g}{}: {}", test.adjusted_p, corrected, reason);
}

std::string Detail(const SeedScores& point, const SeedScores& base, PointVerdict verdict, const std::string& evidence) {
  if (verdict == PointVerdict::kOneValue) return OneValueText(point, base);
  if (verdict == PointVerdict::kIncomplete || verdict == PointVerdict::kNotFinite) return evidence;
  std::vector<std::string> details;
  if (!evidence.empty()) details.push_back(evidence);
  if (point.diverged > 0) details.push_back(fmt::format("{} of {} runs diverged", point.diverged, point.values.size()));
  if (base.diverged > 0)
    details.push_back(fmt::format("{} of {} runs of the baseline diverged", base.diverged, base.values.size()));
  return fmt::format("{}", fmt::join(details, ", "));
}

// Trials that end when they are good have biased results.
bool EndsAtGoal(const Combined& combined, const std::vector<size_t>& trials) {
  return std::ranges::any_of(trials, [&](size_t t) { return GoalOfConfig(combined.trials[t].data.config).has_value(); });
}

constexpr uint64_t kSeedOfLogRank = 20261130;  // of random assignments: the same scores give the same verdict

std::vector<statistics::Judgement> TestsOf(const std::vector<SeedScores>& points, const SeedScores& base) {
  if (base.reached.empty()) {
    std::vector<std::vector<double>> values;
    for (const SeedScores& point : points) values.push_back(point.values);
    return statistics::JudgeAgainst(values, base.values);
  }
  std::vector<statistics::Arrivals> arrivals;
  for (const SeedScores& point : points) arrivals.push_back(point.arrivals());
  return statistics::JudgeAgainst(arrivals, base.arrivals(), kSeedOfLogRank);
}

}  // namespace

std::optional<statistics::Difference> SeedScores::DifferenceFrom(const SeedScores& base) const {
  return reached.empty() ? statistics::WelchDifference(values, base.values)
                         : statistics::RestrictedDifference(arrivals(), base.arrivals());
}

std::string JudgedPoint::Text() const { return detail.empty() ? Words(verdict) : Words(verdict) + ", " + detail; }

std::vector<JudgedPoint> Scoring::VerdictsAgainst(size_t baseline, const MeasureSpec& measure) const {
  std::vector<JudgedPoint> judged(points_.size());
  const SeedScores base = Scores(baseline, measure);
  std::vector<SeedScores> scores;
  std::vector<size_t> tested;
  const bool is_biased = IsOfLearning(measure) && !measure.StepsGoal();
  for (size_t i = 0; i < points_.size(); ++i) {
    if (i == baseline || points_[i].group != points_[baseline].group) continue;
    SeedScores point = Scores(i, measure);
    if (is_biased && (EndsAtGoal(combined_, points_[i].trials) || EndsAtGoal(combined_, points_[baseline].trials))) {
      judged[i] = {PointVerdict::kEndsAtGoal, ""};
      continue;
    }
    if (const std::optional<PointVerdict> verdict = WithoutTest(point, base)) {
      judged[i] = {*verdict, Detail(point, base, *verdict, "")};
      continue;
    }
    scores.push_back(std::move(point));
    tested.push_back(i);
  }
  const std::vector<statistics::Judgement> tests = TestsOf(scores, base);
  for (size_t i = 0; i < tested.size(); ++i) {
    const bool is_told = tests[i].verdict != statistics::Verdict::kNotShown;
    PointVerdict verdict =
        is_told ? Directed(tests[i].verdict == statistics::Verdict::kMore, measure.direction) : PointVerdict::kNotShown;
    if (scores[i].below_floors) verdict = PointVerdict::kBelowFloors;
    const std::string evidence =
        scores[i].below_floors ? ""
                               : EvidenceText(tests[i], tests.size(), HasSpread(scores[i].values) || HasSpread(base.values));
    judged[tested[i]] = {verdict, Detail(scores[i], base, verdict, evidence)};
  }
  return judged;
}

SeedScores Scoring::Scores(size_t point, const MeasureSpec& measure) const {
  SeedScores scores;
  // Only a measure with a direction has a worst value.
  const bool of_learning = IsOfLearning(measure), counts_divergence = measure.direction != 0 && of_learning;
  const std::optional<Goal> goal = measure.StepsGoal();
  std::optional<double> worst;
  for (const size_t t : points_[point].trials) {
    const TrialData& trial = combined_.trials[t].data;
    scores.incomplete = scores.incomplete || IsToRunAgain(trial);
    std::optional<double> score = ScoreOf(trial, measure.expression);
    if (counts_divergence && Diverged(trial, score)) {
      if (!worst) worst = Worst(points_[point].group, measure);
      if (worst && goal) worst = std::max(*worst, NumberOf(trial.At("budget.env_steps")).value_or(0));
      if (worst) {
        score = worst;
        ++scores.diverged;
      }
    }
    if (!score) {
      // A diverged run counts as the worst in learning. Its speed is no result, so it is left out there.
      if (of_learning || trial.outcome != Outcome::kNan) ++scores.missing;
      continue;
    }
    scores.seeds.push_back(trial.seed);
    scores.runs.push_back(ResultsFolder{trial.out}.trial(trial.trial_id).folder);
    scores.values.push_back(*score);
    const Number* reached = goal && trial.usable() ? trial.Find(goal->ReachedMeasure()) : nullptr;
    if (goal) scores.reached.push_back(reached != nullptr && reached->value == 1);
  }
  scores.below_floors = IsBelowFloors(point, measure, scores.values);
  return scores;
}

std::optional<Number> Scoring::Value(size_t point, const MeasureSpec& measure) const {
  const SeedScores scores = Scores(point, measure);
  if (!scores.reached.empty()) return MeanSteps(scores.arrivals(), statistics::CommonHorizon({scores.arrivals()}));
  return scores.diverged > 0 ? std::optional(Mean(scores.values, "seeds"))
                             : MeasureOf(combined_, points_[point], measure.expression);
}

std::string Scoring::Remark(size_t point, const std::vector<MeasureSpec>& measures) const {
  const std::vector<size_t>& trials = points_[point].trials;
  const auto waiting =
      std::count_if(trials.begin(), trials.end(), [&](size_t t) { return IsToRunAgain(combined_.trials[t].data); });
  std::string text;
  if (waiting > 0) text = fmt::format("incomplete: {} of {} trials to be run again", waiting, trials.size());
  size_t diverged = 0;
  for (const MeasureSpec& measure : measures) diverged = std::max(diverged, Scores(point, measure).diverged);
  if (diverged > 0)
    text += fmt::format("{}{} of {} seeds diverged{}", text.empty() ? "" : "; ", diverged, trials.size(),
                        diverged < trials.size() ? " and count as the worst score seen" : "");
  for (const std::string& more : {NotFiniteRemark(point, measures)})
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  return text;
}

// "loss: not finite", "return: 2 of the last 10 values are not finite"
std::string Scoring::NotFiniteRemark(size_t point, const std::vector<MeasureSpec>& measures) const {
  std::string text;
  std::set<std::string> said;
  for (const MeasureSpec& measure : measures) {
    for (const std::string& name : measure.expression.paths()) {
      if (!said.insert(name).second) continue;
      uint64_t finite = 0, last = 0;
      for (const size_t t : points_[point].trials) {
        const TrialData& trial = combined_.trials[t].data;
        const auto found = trial.not_finite.find(name);
        if (found == trial.not_finite.end() || !trial.usable()) continue;
        finite += found->second.finite;
        last += found->second.last;
      }
      if (last == 0) continue;
      text += fmt::format("{}{}: {} of the last {} values are not finite", text.empty() ? "" : "; ", name, last - finite, last);
    }
  }
  return text;
}

bool Scoring::IsNeverFinite(size_t point, const MeasureSpec& measure) const {
  const auto& names = measure.expression.paths();
  return std::any_of(points_[point].trials.begin(), points_[point].trials.end(), [&](size_t t) {
    const TrialData& trial = combined_.trials[t].data;
    return trial.usable() && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             const auto found = trial.not_finite.find(name);
             return found != trial.not_finite.end() && !found->second.ever;
           });
  });
}

std::string Scoring::WithoutScore(const std::vector<size_t>& points, const MeasureSpec& measure) const {
  std::map<std::string, size_t> counts;
  size_t runs = 0;
  for (const size_t point : points) {
    runs += points_[point].trials.size();
    for (const size_t t : points_[point].trials) {
      const TrialData& trial = combined_.trials[t].data;
      const std::optional<double> score = ScoreOf(trial, measure.expression);
      if (Diverged(trial, score)) {
        ++counts["diverged"];
      } else if (!trial.usable()) {
        ++counts[IsFinal(trial.state) && trial.state != TrialState::kSkipped ? "failed" : "did not finish"];
      } else if (!score) {
        ++counts["have no " + measure.title];
      }
    }
  }
  return CountsOf(counts, runs);
}

// A trial that diverged ended early: its speed and its memory are no worse for that.
bool Scoring::IsOfLearning(const MeasureSpec& measure) const {
  const auto& names = measure.expression.paths();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto reduced = SplitReducedName(name);
    const std::optional<Goal> goal = GoalOfMeasure(name);
    const std::string& curve = goal ? goal->metric : reduced ? reduced->curve : name;
    if (curve == "return" || curve.starts_with("eval/") || curve.starts_with("ep/") || curve.starts_with("train/")) return true;
    return std::any_of(combined_.trials.begin(), combined_.trials.end(), [&](const CombinedTrial& trial) {
      return trial.data.registered.contains(curve) || (trial.data.curves.contains(curve) && !IsOfMachine(curve));
    });
  });
}

std::vector<double> Scoring::Finite(size_t point, const MeasureSpec& measure) const {
  std::vector<double> values;
  for (const size_t t : points_[point].trials) {
    const std::optional<double> score = ScoreOf(combined_.trials[t].data, measure.expression);
    if (score && std::isfinite(*score)) values.push_back(*score);
  }
  return values;
}

std::optional<double> Scoring::Worst(size_t group, const MeasureSpec& measure) const {
  std::optional<double> worst;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].group != group) continue;
    for (const double value : Finite(i, measure))
      worst = !worst ? value : measure.direction > 0 ? std::min(*worst, value) : std::max(*worst, value);
  }
  return worst;
}

bool Scoring::IsBelowFloors(size_t point, const MeasureSpec& measure, const std::vector<double>& values) const {
  if (measure.direction == 0 || values.size() < 2) return false;
  const Number mean = Mean(values, "seeds");
  if (!mean.low) return false;
  const double sign = measure.direction;
  const double own = sign > 0 ? *mean.low : -*mean.high;
  for (const char* floor : {"floor_zero", "floor_uniform"}) {
    std::vector<double> earned;
    for (const size_t t : points_[point].trials) {
      const TrialData& trial = combined_.trials[t].data;
      const std::optional<double> value = trial.usable() ? FloorOf(trial, measure.expression, floor) : std::nullopt;
      if (value && std::isfinite(*value)) earned.push_back(*value);
    }
    if (earned.empty()) continue;
    const Number of_floor = Mean(earned, "seeds");
    const double best = sign > 0 ? of_floor.high.value_or(of_floor.value) : -of_floor.low.value_or(of_floor.value);
    if (!(own > best)) return true;
  }
  return false;
}

}  // namespace backplane
