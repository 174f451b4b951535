#include "kinds/gate_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "kinds/goal_text.hpp"
#include "record/gate_baseline.hpp"
#include "statistics/limit.hpp"
#include "statistics/looks_interval.hpp"
#include "statistics/permutation.hpp"
#include "statistics/scores_needed.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

using statistics::LimitTest;
using statistics::Side;

constexpr uint64_t kSeedOfGate = 20261124;  // of deals: the same scores give the same verdict
constexpr char kBaselinePoint[] = "baseline";
constexpr size_t kLeastScoresOfNoChange = 4;  // of a look: fewer may be equal by chance where scores are few whole numbers

TrialData TrialOf(const GateBaseline& baseline, const TrialMeasures& measured) {
  TrialData trial;
  trial.trial_id = fmt::format("{}/{}", kBaselinePoint, measured.seed);
  trial.point_id = trial.point = kBaselinePoint;
  trial.seed = measured.seed;
  trial.config = baseline.config;
  trial.config["seed"] = measured.seed;
  trial.files = baseline.files;
  trial.state = measured.state;
  trial.outcome = measured.outcome;
  for (const auto& [name, value] : measured.values) trial.measures[name] = Reading(value);
  return trial;
}

// For learning: the kept scores, then the folder's. Until the last look, only seeds with results count.
Combined WithKeptScores(const GateRequest& request) {
  const GateBaseline baseline = ReadGateBaseline(request.baseline);
  ResultSet set = ReadResultSet(request.folder);
  std::set<uint64_t> seeds;
  for (const TrialData& trial : set.trials) seeds.insert(trial.seed);
  Combined combined{{set.experiment}, {set.out}, {{"", set.run}}, {}, 0, {}, {set.config}};
  for (const TrialMeasures& measured : baseline.trials) {
    if (!request.looks || seeds.contains(measured.seed)) combined.trials.push_back({TrialOf(baseline, measured), 0});
  }
  for (TrialData& trial : set.trials) {
    trial.label = "now";
    combined.trials.push_back({std::move(trial), 0});
  }
  return combined;
}

// Shows rounding noise between equal means as 0.
std::string Signed(double percent) { return fmt::format("{:+.3g} %", std::abs(percent) < 1e-9 ? 0 : percent); }

std::string SignedRatio(double logarithm) { return Signed(100 * std::expm1(logarithm)); }

// One condition, over scores that are there.
class Gate {
 public:
  Gate(const GateRequest& request, const GateCondition& condition, AbScores scores, bool same_seeds)
      : request_(request), condition_(condition), scores_(std::move(scores)), same_seeds_(same_seeds) {
    out_.condition = condition;
  }

  GateJudgement Judge() {
    out_.notes = scores_.warnings;
    if (const std::string why = WhyNeverShown(); !why.empty()) scores_.whys_invalid.push_back(why);
    if (!scores_.whys_invalid.empty()) return Invalid();
    for (const ArmScores& arm : scores_.arms) {
      if (arm.diverged > 0)
        out_.notes.push_back(fmt::format("{} of {} runs of {} diverged and count as the worst score seen.", arm.diverged,
                                         arm.values.size(), arm.name));
      if (arm.below_floors && !condition_.speed)
        out_.notes.push_back(fmt::format("{} is not shown to beat both doing nothing and acting at random.", arm.name));
    }
    condition_.speed ? JudgeSpeed() : JudgeScores();
    return std::move(out_);
  }

 private:
  const std::vector<double>& before() const { return scores_.arms[0].values; }
  const std::vector<double>& now() const { return scores_.arms[1].values; }
  statistics::Arrivals AllOf(size_t arm) const { return FirstArrivals(scores_.arms[arm], scores_.arms[arm].values.size()); }
  uint64_t LooksAtMost() const { return request_.looks ? request_.looks->max : 1; }
  uint64_t ScoresOfALook() const { return request_.looks ? request_.looks->n.value_or(0) : 0; }

  std::string WhyNeverShown() const {
    return condition_.speed || request_.looks ? "" : WhyNoChangeCanBeShown(before().size(), now().size(), request_.alpha);
  }

  GateJudgement Invalid() {
    out_.verdict = GateVerdict::kInvalid;
    out_.decided = true;
    out_.sentence = "INVALID: " + scores_.whys_invalid.front();
    out_.notes.insert(out_.notes.begin(), scores_.whys_invalid.begin() + 1, scores_.whys_invalid.end());
    return std::move(out_);
  }

  void JudgeScores() {
    if (before().empty() || now().empty()) return Conclude({});
    const Number mean = Mean(before(), "seeds");
    const bool may_be_zero = !scores_.terms.goal && !(mean.low.value_or(mean.value) > 0 || mean.high.value_or(mean.value) < 0);
    if (may_be_zero && condition_.percent != 0) {
      scores_.whys_invalid.push_back(
          fmt::format("{} of the baseline is {}, so the baseline may be 0 and a percentage has no meaning; use {}.",
                      condition_.measure, FormatNumber(mean, scores_.metric.digits), condition_.below ? "< 0%" : "> 0%"));
      Invalid();
      return;
    }
    const double factor = 1 + condition_.percent / 100 * (mean.value < 0 ? -1 : 1);
    if (factor <= 0) {  // scores that are multiplied by it would change sides
      scores_.whys_invalid.push_back(
          fmt::format("a change of {:g} % would reverse the sign of the baseline's mean, {}; use a limit within 100 %.",
                      condition_.percent, FormatNumber(mean, scores_.metric.digits)));
      Invalid();
      return;
    }
    const statistics::LimitPlan plan{
        .n = ScoresOfALook(), .looks = LooksAtMost(), .alpha = request_.alpha, .seed = kSeedOfGate};
    const LimitTest test = scores_.terms.goal ? statistics::TestArrivals(AllOf(0), AllOf(1), factor, plan)
                                              : statistics::TestScores(before(), now(), factor, plan);
    if (test.difference) {
      const statistics::Difference& d = *test.difference;
      const size_t n = request_.looks ? test.n : before().size();
      const double of = std::abs(Mean({before().begin(), before().begin() + static_cast<std::ptrdiff_t>(n)}, "").value);
      if (of > 0) SetChange([&](double apart) { return condition_.percent + 100 * apart / of; }, d);
      out_.needed = statistics::ScoresNeeded(d, test.n, ShareOfALook());
    }
    AreTheSame(test) ? ConcludeFromNoChange(test) : Conclude(test);
  }

  // Runs repeat to the last bit, so a change without effect on the computation reproduces each seed's score. A statistical test
  // would need more seeds to show the same. Scores without spread may sit at a ceiling, which hides changes.
  bool AreTheSame(const LimitTest& test) const {
    const size_t n = request_.looks ? test.n : before().size();
    if (!same_seeds_ || n < kLeastScoresOfNoChange || now().size() < n || (!request_.looks && now().size() != n)) return false;
    const auto end = before().begin() + static_cast<std::ptrdiff_t>(n);
    const std::vector<char>&reached = scores_.arms[0].reached, &reached_now = scores_.arms[1].reached;
    if (!std::equal(reached.begin(), reached.begin() + static_cast<std::ptrdiff_t>(std::min(n, reached.size())),
                    reached_now.begin()))
      return false;
    return std::equal(before().begin(), end, now().begin()) &&
           std::adjacent_find(before().begin(), end, std::not_equal_to()) != end;
  }

  void ConcludeFromNoChange(const LimitTest& test) {
    out_.looks = test.looks;
    out_.n = test.n;
    out_.change_pct = out_.low_pct = out_.high_pct = 0;
    out_.needed.reset();
    out_.decided = true;
    const bool beyond = condition_.below ? 0 < condition_.percent : 0 > condition_.percent;
    out_.verdict = beyond ? GateVerdict::kFail : GateVerdict::kPass;
    out_.sentence =
        fmt::format("{}: {} has not changed: all {} seeds compared have the baseline's scores, bit for bit. {}.",
                    beyond ? "FAIL" : "PASS", condition_.measure, request_.looks ? test.n : before().size(), Evidence(test));
  }

  void JudgeSpeed() {
    const double ratio = 1 + condition_.percent / 100;
    std::vector<std::vector<statistics::Block>> looks;
    std::vector<statistics::Block> cpu;
    const std::vector<double>&cpu_before = scores_.arms[0].cpu_s, &cpu_now = scores_.arms[1].cpu_s;
    const size_t n = scores_.terms.scores;
    for (size_t look = 0; look < LooksAtMost() && 2 * n * (look + 1) <= std::min(before().size(), now().size()); ++look) {
      looks.emplace_back();
      for (size_t block = look * n; block < (look + 1) * n; ++block) {
        if (IsSetAside(scores_.terms, block)) continue;
        const size_t at = 2 * block;
        if (std::min(cpu_before.size(), cpu_now.size()) > at + 1)
          cpu.push_back({cpu_before[at], cpu_now[at], cpu_now[at + 1], cpu_before[at + 1]});
        looks.back().push_back({before()[at], now()[at], now()[at + 1], before()[at + 1]});
      }
    }
    const LimitTest test = statistics::TestBlocks(looks, ratio, {.looks = LooksAtMost(), .alpha = request_.alpha});
    // Wall time depends on what else runs, CPU time hardly.
    if (const auto difference = statistics::BlockDifference(cpu))
      out_.notes.push_back(fmt::format("CPU time, next to {}: {} (95 % interval {} to {}).", condition_.measure,
                                       SignedRatio(difference->value), SignedRatio(difference->low),
                                       SignedRatio(difference->high)));
    if (const size_t set_aside = n * test.looks - test.n; set_aside > 0)
      out_.notes.push_back(fmt::format("{} {} discarded, because other programs competed for the cores.", set_aside,
                                       set_aside == 1 ? "block was" : "blocks were"));
    if (test.difference) {
      SetChange([&](double apart) { return 100 * (ratio * std::exp(apart) - 1); }, *test.difference);
      out_.needed = statistics::ScoresNeeded(*test.difference, test.n, ShareOfALook());
    }
    Conclude(test);
  }

  // Two-sided error of one look, so that all looks together keep alpha on each side: of the test, and of the interval next to
  // it.
  double ShareOfALook() const {
    const double both = 2 * request_.alpha;
    return condition_.speed ? both / static_cast<double>(LooksAtMost()) : statistics::ShareOfALook(LooksAtMost(), both);
  }

  void SetChange(const auto& percent_of, const statistics::Difference& apart) {
    const statistics::Interval interval = statistics::IntervalAt(apart, ShareOfALook());
    out_.level_pct = 100 * (1 - 2 * request_.alpha);
    out_.change_pct = percent_of(apart.value);
    out_.low_pct = percent_of(interval.low);
    out_.high_pct = percent_of(interval.high);
  }

  void Conclude(const LimitTest& test) {
    out_.looks = test.looks;
    out_.n = test.n;
    const Side bad = condition_.below ? Side::kBelow : Side::kAbove;
    if (test.side != Side::kNotShown) out_.verdict = test.side == bad ? GateVerdict::kFail : GateVerdict::kPass;
    out_.decided = test.side != Side::kNotShown || test.looks == LooksAtMost() ||
                   (test.n == 0 && test.looks >= CompareLooks::kMostOfNothing);
    out_.sentence = Sentence(test);
  }

  std::string Sentence(const LimitTest& test) const {
    const std::string what = "the change of " + condition_.measure, limit = fmt::format("{:g} %", condition_.percent);
    if (test.looks == 0) return fmt::format("UNDECIDED: {} is unknown until the first look ends.", what);
    if (test.n == 0)
      return fmt::format("UNDECIDED: {} is unknown, because other programs disturbed every block. Use a quiet machine.", what);
    const std::string evidence = Evidence(test);
    if (test.side != Side::kNotShown)
      return fmt::format("{}: {} is {} {}. {}.", out_.verdict == GateVerdict::kFail ? "FAIL" : "PASS", what,
                         test.side == Side::kBelow ? "below" : "above", limit, evidence);
    std::string text = fmt::format(
        "UNDECIDED: neither a pass nor a failure, because {} is not shown to be on one side of {}. {}.", what, limit, evidence);
    if (test.unconfirmed && scores_.terms.goal)
      text += " The log-rank test finds a change, but the means point the other way; a decision needs both.";
    else if (test.unconfirmed && test.difference)
      text += fmt::format(
          " The permutation test finds a change, but Welch's test does not (p = {:.2g}, limit {:.2g}). A few extreme scores or "
          "unequal spreads can cause this; a decision needs both.",
          test.difference->p / 2, ShareOfALook() / 2);
    if (!test.difference)
      return text +
             (test.looks < LooksAtMost()
                  ? " The scores within each side are all equal, so the gate decides only at the last look."
                  : " The scores within each side are all equal, and the change is exactly the limit; set a different limit.");
    return text + (out_.needed ? Needed() : "");
  }

  std::string Needed() const {
    return fmt::format(" If this is the true change, a gate with about {} decides in {:g} % of cases.",
                       condition_.speed ? fmt::format("{} blocks, or on a machine with less noise,", *out_.needed)
                                        : fmt::format("{} seeds per side", *out_.needed),
                       100 * statistics::kPower);
  }

  // "Change -12.3 % (90 % interval -15.1 % to -9.4 %): baseline 195 ± 4, now 171 ± 5 (± 95 %); 5 seeds each, decided at look 1
  // of 5"
  std::string Evidence(const LimitTest& test) const {
    std::string text;
    if (out_.change_pct && out_.low_pct != out_.high_pct)
      text = fmt::format("Change {} ({:.3g} % interval {} to {}): ", Signed(*out_.change_pct), out_.level_pct,
                         Signed(*out_.low_pct), Signed(*out_.high_pct));
    std::vector<statistics::Arrivals> arms;
    const auto mean = [&](const std::vector<double>& all) {
      const std::vector<double> judged = request_.looks ? JudgedValues(all, scores_.terms, test.looks) : all;
      if (!scores_.terms.goal) return FormatNumber(Mean(judged, "seeds"), scores_.metric.digits);
      arms.push_back(FirstArrivals(scores_.arms[&all == &before() ? 0 : 1], judged.size()));
      return FormatNumber(MeanSteps(arms.back(), statistics::CommonHorizon({arms.back()})), scores_.metric.digits);
    };
    const std::string unit = scores_.metric.unit.empty() ? "" : " " + scores_.metric.unit;
    const std::string before_text = mean(before()), now_text = mean(now());
    text += fmt::format("{} {}{}, now {}{} (± 95 %{}); ", text.empty() ? "Baseline" : "baseline", before_text, unit, now_text,
                        unit, NeverReached(arms));
    if (condition_.speed) {
      text += fmt::format("{} blocks", test.n);
    } else if (before().size() == now().size() || request_.looks) {
      text += fmt::format("{} seeds each", test.n);
    } else {
      text += fmt::format("{} and {} seeds", before().size(), now().size());
    }
    if (!request_.looks) return text;
    if (!out_.decided) return text + fmt::format(", after look {} of {}", test.looks, request_.looks->max);
    if (test.looks == request_.looks->max)
      return text +
             (test.looks == 1 ? ", after the only planned look" : fmt::format(", after all {} planned looks", test.looks));
    return text + fmt::format(", decided at look {} of {}: further seeds are not needed", test.looks, request_.looks->max);
  }

  const GateRequest& request_;
  const GateCondition& condition_;
  AbScores scores_;
  bool same_seeds_;
  GateJudgement out_;
};

CompareTerms TermsOf(const GateRequest& request, const GateCondition& condition) {
  CompareTerms terms;
  terms.metric = condition.measure;
  terms.direction = condition.below ? "up" : "down";
  if (request.looks) terms.looks = *request.looks;
  return terms;
}

}  // namespace

GateJudgement JudgeCondition(const GateRequest& request, const GateCondition& condition, AbScores scores, bool same_seeds) {
  return Gate(request, condition, std::move(scores), same_seeds).Judge();
}

std::string WhyNoChangeCanBeShown(size_t baseline, size_t now, double alpha) {
  if (baseline == 0 || now == 0) return "";
  // Each side has a test of one tail, and Welch's needs two scores of both.
  const auto can_be_shown = [&](size_t n, size_t m) {
    return n > 1 && m > 1 && statistics::LeastUnpairedP(n, m, statistics::Tail::kUpper) <= alpha;
  };
  if (can_be_shown(baseline, now)) return "";
  if (baseline == 1) {
    size_t wanted = 2;
    while (!can_be_shown(wanted, std::max<size_t>(now, 2))) ++wanted;
    return fmt::format(
        "A baseline with 1 seed has no spread, so no change can be shown; save a baseline with {} or more seeds.", wanted);
  }
  size_t wanted = now;
  while (!can_be_shown(baseline, wanted)) ++wanted;
  return fmt::format("{} {} against {} of the baseline can never show a change at {:.2g} %; use {} or more.", now,
                     now == 1 ? "seed" : "seeds", baseline, 100 * alpha, wanted);
}

GateAnswer JudgeGate(const GateRequest& request) {
  const Combined combined = request.runs_baseline ? Combine({ReadResultSet(request.folder)}) : WithKeptScores(request);
  std::vector<ComparedPoint> points = PointsOf(combined);
  const size_t own = points.size() - (points.empty() || request.runs_baseline ? 0 : 1);
  const Diagnosis diagnosis = request.runs_baseline ? Diagnose(combined, nullptr, {}) : Diagnosis{};
  std::set<uint64_t> seeds[2];
  for (const CombinedTrial& trial : combined.trials) seeds[trial.data.point == kBaselinePoint ? 0 : 1].insert(trial.data.seed);
  const bool same_seeds = !request.runs_baseline && seeds[0] == seeds[1];
  GateAnswer answer;
  for (const GateCondition& condition : request.conditions) {
    AbScores scores = ScoresOfArms(combined, points, TermsOf(request, condition), !request.looks, diagnosis);
    if (!request.runs_baseline && own > 1)
      scores.whys_invalid.insert(scores.whys_invalid.begin(),
                                 fmt::format("{}: expected one point, got {}.", request.folder, own));
    answer.conditions.push_back(JudgeCondition(request, condition, std::move(scores), same_seeds));
  }
  return answer;
}

}  // namespace backplane
