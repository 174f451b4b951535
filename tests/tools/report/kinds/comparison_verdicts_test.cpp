// A comparison's verdicts on two points, by their seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fingerprinted.hpp"
#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::At;
using test_support::Context;
using test_support::FailedTrial;
using test_support::NumberAt;
using test_support::Set;
using test_support::Single;
using test_support::TableOf;
using test_support::TextAt;
using test_support::Trial;

constexpr char kMeasure[] = "eval/return";

// A trial per value, with seeds from 0.
std::vector<TrialData> Scored(uint64_t runners, const std::vector<double>& values, const std::string& measure = kMeasure) {
  std::vector<TrialData> trials;
  for (const double value : values) {
    trials.push_back(Trial(runners, 1, 1000, trials.size()));
    trials.back().measures[measure] = Single(value);
  }
  return trials;
}

class Verdicts : public ::testing::Test {
 protected:
  void Compare(std::vector<TrialData> base, std::vector<TrialData> point, const nlohmann::json& column = kMeasure) {
    base.insert(base.end(), point.begin(), point.end());
    document_ = ComparisonReport(
        {Set(base)}, Context("comparison", {{"baseline", "runners=1 envs=1"}, {"columns", nlohmann::json::array({column})}}));
  }
  const Table& Judged() const { return TableOf(document_, "improvement"); }
  std::string Verdict() const { return TextAt(Judged(), 0, "verdict"); }
  std::string Remark(size_t row) const { return TextAt(TableOf(document_, "results"), row, "remark"); }

  Document document_;
};

// SciPy's ttest_ind(equal_var=False) of the second against the first: difference 869.3333 [-378.6237, 2117.2904].
const std::vector<double> kX = {3258, 2794, 4102, 1017, 3566, 3890}, kY = {2501, 1875, 3120, 2650, 990, 2275};

TEST_F(Verdicts, HaveWelchsIntervalThePairedOneAndTheProbability) {
  Compare(Scored(1, kY), Scored(2, kX));
  EXPECT_EQ("no difference shown", Verdict());
  const Number difference = std::get<Number>(At(Judged(), 0, "difference"));
  EXPECT_NEAR(869.3333, difference.value, 5e-5);
  EXPECT_NEAR(-378.6237, *difference.low, 5e-5);
  EXPECT_NEAR(2117.2904, *difference.high, 5e-5);
  const Number paired = std::get<Number>(At(Judged(), 0, "paired_difference"));
  EXPECT_NEAR(-596.7385, *paired.low, 5e-5);
  EXPECT_EQ(6u, paired.n);
  EXPECT_NEAR(0.8333, NumberAt(Judged(), 0, "p_more"), 5e-5);
}

TEST_F(Verdicts, FollowTheMeasuresDirection) {
  const std::vector<double> low = {1, 2, 3, 4}, high = {11, 12, 13, 14};
  Compare(Scored(1, low), Scored(2, high));
  EXPECT_EQ("better", Verdict());
  Compare(Scored(1, high), Scored(2, low));
  EXPECT_EQ("worse", Verdict());
  Compare(Scored(1, high, "wall_s"), Scored(2, low, "wall_s"), "wall_s");
  EXPECT_EQ("better", Verdict()) << "less time";
  Compare(Scored(1, high, "seconds_per_episode"), Scored(2, low, "seconds_per_episode"), "seconds_per_episode");
  EXPECT_EQ("better", Verdict());
  Compare(Scored(1, low, "ep/x"), Scored(2, high, "ep/x"), "ep/x");
  EXPECT_EQ("more", Verdict()) << "the direction is unknown";
  Compare(Scored(1, low, "ep/x"), Scored(2, high, "ep/x"), {{"measure", "ep/x"}, {"direction", "down"}});
  EXPECT_EQ("worse", Verdict()) << "as the file sets it";
  std::vector<TrialData> base = Scored(1, low, "train/loss");
  for (TrialData& trial : base) trial.registered["train/loss"] = {"nats", -1, ""};
  Compare(base, Scored(2, high, "train/loss"), "train/loss");
  EXPECT_EQ("worse", Verdict()) << "as its plugin registered it";
}

// By hand: the arms are disjoint, so 2 of C(8, 4) = 70 assignments are as extreme.
TEST_F(Verdicts, FollowTheLogRankTestForStepsToAGoal) {
  const std::string steps = "steps_to(eval/return, 475)";
  const auto scored = [&](uint64_t runners, const std::vector<double>& values) {
    std::vector<TrialData> trials = Scored(runners, values, steps);
    for (TrialData& trial : trials) {
      trial.measures["reached(eval/return, 475)"] = Single(trial.measures[steps].value < 1000);
      trial.measures[kMeasure] = Single(480 + trial.measures[steps].value / 1000);
      trial.config["budget"] = {{"env_steps", 1000}, {"until", {{"eval/return", 475}}}};
    }
    return trials;
  };
  // Welch's test would show no difference.
  const std::vector<double> slow = {110, 120, 1000, 1000}, fast = {90, 91, 92, 93};
  Compare(scored(1, slow), scored(2, fast), steps);
  EXPECT_EQ("better", Verdict()) << "p = 0.029";
  EXPECT_THAT(document_.verdict.front(),
              testing::HasSubstr("reaches eval/return 475 sooner than the baseline, runners=1 envs=1: "));
  EXPECT_THAT(document_.verdict.front(), testing::HasSubstr("4 seeds each; 2 never reached it within 1,000"));
  Compare(scored(1, fast), scored(2, slow), steps);
  EXPECT_EQ("worse", Verdict());
  Compare(scored(1, slow), scored(2, fast));
  EXPECT_EQ("no verdict: trials end at their goal (budget.until)", Verdict()) << "last values are biased";
}

TEST_F(Verdicts, NeedFourSeedsASide) {
  const std::vector<double> high = {11, 12, 13, 14};
  Compare(Scored(1, {1}), Scored(2, {11}));
  EXPECT_EQ("no verdict: one seed", Verdict());
  Compare(Scored(1, {1}), Scored(2, high));
  EXPECT_EQ("no verdict: one seed", Verdict());
  Compare(Scored(1, {1, 2, 3}), Scored(2, high));
  EXPECT_EQ("too few seeds", Verdict());
  Compare(Scored(1, {1, 2, 3, 4}), Scored(2, high));
  EXPECT_EQ("better", Verdict());
}

TEST_F(Verdicts, EpisodesOfOneSeedAreNoSeeds) {
  std::vector<TrialData> base = Scored(1, {1}), point = Scored(2, {11});
  base[0].measures[kMeasure] = test_support::Spread(1, 0.1, 50, "episodes");
  point[0].measures[kMeasure] = test_support::Spread(11, 0.1, 50, "episodes");
  Compare(base, point);
  EXPECT_EQ("no verdict: one seed", Verdict());
  EXPECT_NE(std::string::npos, Judged().notes.at(0).find("this policy and not other seeds"));
  EXPECT_TRUE(std::get<Number>(At(TableOf(document_, "results"), 1, "eval_return")).low) << "its own spread is shown";
}

TEST_F(Verdicts, WithoutASpreadFollowTheExactTest) {
  // By hand: 2 of C(8, 4) = 70 permutations are as extreme.
  Compare(Scored(1, {500, 500, 500, 500}), Scored(2, {9.4, 9.4, 9.4, 9.4}));
  EXPECT_EQ("worse, exact test, p = 0.029: neither side has a spread", Verdict());
  Compare(Scored(1, {500, 500, 500, 500}), Scored(2, {500, 500, 500, 500, 500}));
  EXPECT_EQ("not separated by this metric, both 500 on each of 5 and 4 seeds", Verdict());
  Compare(Scored(1, {500, 500, 500}), Scored(2, {500, 500, 500}));
  EXPECT_EQ("too few seeds", Verdict());
}

TEST_F(Verdicts, AreCorrectedForTheNumberOfPoints) {
  // SciPy's ttest_ind(equal_var=False) of the first: p = 0.01707; Holm multiplies the smallest of three by 3.
  const std::vector<double> base = {1, 2, 3, 4, 5}, close = {4, 5, 6, 7, 8};
  std::vector<TrialData> others = Scored(2, close);
  Compare(Scored(1, base), others);
  EXPECT_EQ("better", Verdict());
  for (const auto& [runners, values] : {std::pair<uint64_t, std::vector<double>>{4, {1, 2, 3, 4, 5.5}}, {8, {0, 2, 3, 4, 5}}})
    for (const TrialData& trial : Scored(runners, values)) others.push_back(trial);
  Compare(Scored(1, base), others);
  EXPECT_EQ("no difference shown, p = 0.017 but 0.051 after correction for 3 comparisons", Verdict());
  EXPECT_NE(std::string::npos, Judged().notes.at(0).find("after correction for the number of points (Holm)"));
}

TEST_F(Verdicts, WithoutASpreadAreCorrectedToo) {
  // By hand: 2 of C(8, 4) = 70 permutations, times 2.
  std::vector<TrialData> others = Scored(2, {9.4, 9.4, 9.4, 9.4});
  for (const TrialData& trial : Scored(4, {9.5, 9.5, 9.5, 9.5})) others.push_back(trial);
  Compare(Scored(1, {500, 500, 500, 500}), others);
  EXPECT_EQ("no difference shown, p = 0.029 but 0.057 after correction for 2 comparisons", Verdict());
}

TEST_F(Verdicts, IdenticalScoresHaveASpread) {
  Compare(Scored(1, {1, 2, 3, 4}), Scored(2, {1, 2, 3, 4}));
  EXPECT_EQ("identical, to the last bit", Verdict());
  Compare(Scored(1, {1, 2, 3, 4}), Scored(2, {4, 3, 2, 1}));
  EXPECT_EQ("no difference shown", Verdict()) << "each seed has a score of its own";
}

TEST_F(Verdicts, AskFingerprintsWhetherPointsAreIdentical) {
  const test_support::Fingerprinted folders;
  const auto verdict = [&](const std::vector<double>& scores, uint64_t last) {
    std::vector<TrialData> base = Scored(1, scores), point = Scored(2, scores);
    for (std::vector<TrialData>* side : {&base, &point})
      for (TrialData& trial : *side) trial.out = folders.out(), folders.Run(trial.trial_id, trial.seed);
    folders.Run(point.back().trial_id, last);
    Compare(base, point);
    return Verdict();
  };
  EXPECT_EQ("identical, to the last bit", verdict({500, 500, 500, 500}, 3));
  EXPECT_EQ("not separated by this metric, both 500 on each of 4 seeds", verdict({500, 500, 500, 500}, 4));
  EXPECT_EQ("no difference shown", verdict({1, 2, 3, 4}, 4)) << "equal scores, different weights";
}

TEST_F(Verdicts, UseTheDirectionOfTheComparedMetric) {
  std::vector<TrialData> all = Scored(1, {1, 2, 3, 4}, "ep/x");
  for (const TrialData& trial : Scored(2, {11, 12, 13, 14}, "ep/x")) all.push_back(trial);
  ResultSet set = Set(all);
  set.config["compare"] = {{"metric", "ep/x"}, {"direction", "down"}};
  const Document document =
      ComparisonReport({set}, Context("comparison", {{"baseline", "runners=1 envs=1"}, {"columns", {"SPS", "ep/x"}}}));
  EXPECT_EQ(-1, TableOf(document, "results").columns.at(2).direction);
}

TEST_F(Verdicts, UseTheDirectionOfASelection) {
  std::vector<TrialData> all = Scored(1, {1, 2, 3, 4}, "ep/x");
  for (const TrialData& trial : Scored(2, {11, 12, 13, 14}, "ep/x")) all.push_back(trial);
  const Document document =
      ComparisonReport({Set(all)}, Context("comparison", {{"baseline", "runners=1 envs=1"},
                                                          {"columns", {"ep/x"}},
                                                          {"select", {{"metric", "ep/x"}, {"direction", "minimize"}}}}));
  EXPECT_EQ("worse", TextAt(TableOf(document, "improvement"), 0, "verdict"));
}

TEST_F(Verdicts, CountSeedsThatDivergedAsTheWorstSeenInAnyPoint) {
  std::vector<TrialData> point = Scored(2, {11, 12, 13, NAN});
  TrialData stopped = FailedTrial(2, 1, "FAILED", "nan", "loss is not finite");
  stopped.seed = 4, stopped.trial_id += "-4";
  point.push_back(stopped);
  Compare(Scored(1, {1, 2, 3, 4}), point);
  EXPECT_NEAR((11 + 12 + 13 + 1 + 1) / 5.0, NumberAt(TableOf(document_, "results"), 1, "eval_return"), 1e-12);
  EXPECT_EQ("no difference shown, 2 of 5 runs diverged", Verdict());
  EXPECT_NE(std::string::npos, Remark(1).find("2 of 5 seeds diverged and count as the worst score seen")) << Remark(1);
}

TEST_F(Verdicts, DoNotCountASpeedForDiverging) {
  std::vector<TrialData> point = Scored(2, {11, 12, 13, 14});
  for (size_t i = 0; i < point.size(); ++i) point[i].measures["SPS"] = Single(2000 + static_cast<double>(i));
  TrialData stopped = FailedTrial(2, 1, "FAILED", "nan", "loss is not finite");
  stopped.seed = 4, stopped.trial_id += "-4";
  point.push_back(stopped);
  Compare(Scored(1, {1, 2, 3, 4}), point, "SPS");
  EXPECT_EQ("better", Verdict());
  EXPECT_NEAR(2001.5, NumberAt(TableOf(document_, "results"), 1, "sps"), 1e-9);
}

TEST_F(Verdicts, WaitForTrialsThatAreRunAgain) {
  const std::map<std::string, std::string> again = {
      {"PLANNED", "killed"}, {"PLANNED ", "stale"}, {"PLANNED  ", ""}, {"FAILED", "signal"}, {"FAILED ", "temp"}};
  for (const auto& [state, outcome] : again) {
    std::vector<TrialData> point = Scored(2, {11, 12, 13, 14});
    TrialData open = FailedTrial(2, 1, state.substr(0, state.find(' ')), outcome, "");
    open.seed = 4, open.trial_id += "-4";
    point.push_back(open);
    Compare(Scored(1, {1, 2, 3, 4}), point);
    EXPECT_EQ("incomplete", Verdict()) << outcome;
    EXPECT_NE(std::string::npos, Remark(1).find("incomplete: 1 of 5 trials to be run again")) << Remark(1);
  }
  std::vector<TrialData> point = Scored(2, {11, 12, 13, 14});
  TrialData refused = FailedTrial(2, 1, "FAILED", "config", "no such option");
  refused.seed = 4, refused.trial_id += "-4";
  point.push_back(refused);
  Compare(Scored(1, {1, 2, 3, 4}), point);
  EXPECT_EQ("incomplete", Verdict()) << "the failed seed stays missing, and three of four are no evidence for all";
}

TEST_F(Verdicts, NeedMoreThanDoingNothingEarns) {
  const auto with_floors = [](std::vector<TrialData> trials, double zero, double uniform) {
    for (TrialData& trial : trials) {
      trial.measures["floor_zero/return"] = Single(zero);
      trial.measures["floor_uniform/return"] = Single(uniform);
    }
    return trials;
  };
  const std::vector<TrialData> base = Scored(1, {1, 2, 3, 4}), point = Scored(2, {11, 12, 13, 14});  // [10.4, 14.6]
  Compare(base, with_floors(point, 5, 10));
  EXPECT_EQ("better", Verdict());
  Compare(base, with_floors(point, 5, 11));
  EXPECT_EQ("not better than doing nothing", Verdict()) << "its interval contains the better of both baselines";
  Compare(base, with_floors(point, 990, 5));
  EXPECT_EQ("not better than doing nothing", Verdict());
  Compare(base, with_floors(point, 990, 5), {{"measure", "100 * eval/return"}, {"direction", "up"}});
  EXPECT_EQ("not better than doing nothing", Verdict()) << "both baselines have the same scale";
  Compare(base, with_floors(point, 990, 5), {{"measure", kMeasure}, {"direction", "down"}});
  EXPECT_EQ("not better than doing nothing", Verdict()) << "uniform actions cost less";
}

TEST_F(Verdicts, RatiosHaveNoNegativeBound) {
  Compare(Scored(1, {10, 20, 12, 14}), Scored(2, {3, 1, 30, 2}));
  const Number ratio = std::get<Number>(At(TableOf(document_, "change"), 0, "eval_return"));
  EXPECT_GT(*ratio.low, 0);
  EXPECT_GT(*std::get<Number>(At(Judged(), 0, "change_pct")).low, -100);
}

}  // namespace
}  // namespace backplane
