// The first sentence of a report answers its question.
#include <gtest/gtest.h>

#include <cmath>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Contains;
using test_support::Context;
using test_support::Set;
using test_support::Single;
using test_support::Trial;

// Two seeds of each size, which differ by about 2 % around its speed.
std::vector<TrialData> Speeds(const std::vector<std::pair<uint64_t, double>>& of_runners) {
  std::vector<TrialData> trials;
  for (const auto& [runners, sps] : of_runners) {
    trials.push_back(Trial(runners, 1, sps * 1.01, 0));
    trials.push_back(Trial(runners, 1, sps / 1.01, 1));
  }
  return trials;
}

std::string Headline(const std::vector<TrialData>& trials) {
  return ParallelEfficiencyReport({Set(trials)}, Context("parallel_efficiency")).verdict.at(0);
}

TEST(Headline, ComparesSpeedsAsARatioToTheBaseline) {
  // By hand: 1.9 x (exp(2.7764 x sqrt(2) x 0.00995) - exp(-...)) / 2 = 0.0743.
  EXPECT_EQ("4 x 1 is 1.90 ± 0.07 times as fast as 1 x 1 (1,900 ± 52 steps/s). Intervals are 95 %, over 2 seeds.",
            Headline(Speeds({{1, 1000}, {2, 1500}, {4, 1900}, {8, 1200}})));
}

TEST(Headline, CountsRunsWithoutASpeed) {
  std::vector<TrialData> trials = Speeds({{1, 1000}, {2, 1500}, {4, 1900}, {8, 1200}});
  trials.push_back(test_support::FailedTrial(16, 1, "FAILED", "plugin", "it broke"));
  EXPECT_TRUE(Contains(Headline(trials), "(1,900 ± 52 steps/s); 1 of 9 runs have no speed.")) << Headline(trials);
}

TEST(Headline, NamesThoseThatAreNotShownToBeSlower) {
  EXPECT_TRUE(Contains(Headline(Speeds({{1, 1000}, {2, 1890}, {4, 1900}, {8, 1200}})),
                       "4 x 1 is 1.90 ± 0.07 times as fast as 1 x 1 (1,900 ± 52 steps/s); it is not shown to be faster than "
                       "2 x 1."));
}

TEST(Headline, ReportsThatNoSettingIsShownToBeFaster) {
  const std::string close = Headline(Speeds({{1, 1000}, {2, 1010}, {4, 1020}, {8, 900}}));
  EXPECT_TRUE(close.starts_with(
      "No setting is shown to be faster than the baseline, 1 x 1 (1,000 ± 28 steps/s); 4 x 1 is the fastest of the others, "
      "with 1.02 ± "))
      << close;
  EXPECT_TRUE(Contains(close, " times its speed: measure longer. Intervals are 95 %, over 2 seeds.")) << close;
  EXPECT_TRUE(Contains(Headline(Speeds({{1, 1000}, {2, 800}, {4, 700}, {8, 900}})),
                       "; 8 x 1 is the fastest of the others, with 0.900 ± "));
}

TEST(Headline, OneFastSeedDoesNotHideASettingThatIsShownToBeFaster) {
  // 4 x 1 has only one seed left: its mean is the fastest, and its interval is wide.
  std::vector<TrialData> trials = Speeds({{1, 1000}, {2, 1040}, {8, 900}, {16, 900}, {32, 900}});
  trials.push_back(Trial(4, 1, 1043));
  EXPECT_TRUE(Contains(Headline(trials), "2 x 1 is 1.04 ± ")) << Headline(trials);
}

TEST(Headline, NamesNoFastestSettingForTooFewSeeds) {
  EXPECT_TRUE(Contains(Headline(Speeds({{1, 1000}, {2, 1900}, {4, 3000}})), "Too few seeds to name the fastest setting"));
  EXPECT_TRUE(Contains(Headline({Trial(1, 1, 1000), Trial(2, 1, 1900)}), "Too few seeds"));
}

TEST(Headline, ReportsABusyMachineFirst) {
  std::vector<TrialData> trials = Speeds({{1, 1000}, {2, 1500}, {4, 1900}, {8, 1200}});
  for (TrialData& trial : trials) {
    trial.measures["threads"] = trial.measures["learner_threads"] = Single(2);
    trial.measures["resources/run_queue_wait_pct"] = test_support::Spread(60, 1, 10, "samples");
    trial.measures["resources/psi_cpu_some_pct"] = test_support::Spread(60, 1, 10, "samples");
  }
  EXPECT_TRUE(Contains(Headline(trials), "Not trustworthy: the machine was busy")) << Headline(trials);
  EXPECT_TRUE(Contains(Headline(trials), ". As measured: 4 x 1 is 1.9")) << Headline(trials);
  const Document document = ParallelEfficiencyReport({Set(trials)}, Context("parallel_efficiency"));
  EXPECT_TRUE(document.is_void);
  const std::vector<std::string>& verdict = document.verdict;
  EXPECT_TRUE(Contains(verdict.at(1), "To get valid times, ")) << verdict.at(1);
  EXPECT_TRUE(Contains(verdict.at(1), "--fresh")) << verdict.at(1);
  for (const std::string& sentence : verdict) EXPECT_FALSE(Contains(sentence, "; first: ")) << "advice from such times";
  ReportContext of_times = Context("comparison");
  EXPECT_FALSE(ComparisonReport({Set(trials)}, of_times).is_void) << "it compares no times";
  of_times.report.timing = true;
  EXPECT_TRUE(ComparisonReport({Set(trials)}, of_times).is_void);
  EXPECT_FALSE(ParallelEfficiencyReport({Set(Speeds({{1, 1000}, {2, 1500}}))}, Context("parallel_efficiency")).is_void);
}

// This many seeds from 0, with consecutive whole numbers as returns.
std::vector<TrialData> Returns(uint64_t runners, double first, size_t n) {
  std::vector<TrialData> trials;
  for (size_t seed = 0; seed < n; ++seed) {
    trials.push_back(Trial(runners, 1, 1000, seed));
    trials.back().measures["eval/return"] = Single(first + static_cast<double>(seed));
  }
  return trials;
}

std::string ComparisonHeadlineOf(const std::vector<std::vector<TrialData>>& points, nlohmann::json report) {
  std::vector<TrialData> all;
  for (const auto& trials : points) all.insert(all.end(), trials.begin(), trials.end());
  report["columns"] = {"eval/return"};
  return ComparisonReport({Set(all)}, Context("comparison", report)).verdict.at(0);
}

const nlohmann::json kAgainstFirst = {{"baseline", "runners=1 envs=1"}};

TEST(Headline, NamesPointsWithAVerdictFirstAndCountsTheRest) {
  // By hand: each has a variance of 2.5, so a difference of 2.306 x sqrt(2 x 2.5 / 5) = 2.31 is shown.
  const std::string text =
      ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 9, 5), Returns(4, 14, 5), Returns(8, 3, 5), Returns(16, 18, 5),
                            Returns(32, 7, 5), Returns(64, 10, 5), Returns(128, 8.5, 5)},
                           kAgainstFirst);
  EXPECT_TRUE(
      text.starts_with("runners=16 envs=1 is better than the baseline, runners=1 envs=1: eval/return 20.00 ± 1.96 against "
                       "10.00 ± 1.96, +100 ± "))
      << text;
  EXPECT_TRUE(Contains(
      text, " % (5 seeds each). Also better: runners=4 envs=1 (+60.0 ± 32.0 %). runners=16 envs=1 is the best of these. "))
      << text;
  EXPECT_TRUE(Contains(text, " Worse: runners=8 envs=1 (-50.0 (")) << text;
  EXPECT_TRUE(Contains(text, " %). Not shown to differ: runners=2 envs=1 (+10.0 ")) << text;
  EXPECT_TRUE(Contains(text,
                       " %). ± is a 95 % interval over seeds; higher is better; at most 5 "
                       "% of reports have a wrong verdict."))
      << text;
}

TEST(Headline, NamesGainsWithoutAVerdict) {
  const std::string text = ComparisonHeadlineOf({Returns(1, 8, 5), Returns(4, 9, 5)}, kAgainstFirst);
  EXPECT_TRUE(
      text.starts_with("No point is shown to be better than the baseline, runners=1 envs=1: eval/return 10.00 ± 1.96 (5 "
                       "seeds each). Not shown to differ: runners=4 envs=1 (+10.0 ± "))
      << text;
}

TEST(Headline, AroundZeroHasDifferencesInsteadOfRatios) {
  EXPECT_TRUE(
      ComparisonHeadlineOf({Returns(1, -2, 5), Returns(2, 8, 5)}, kAgainstFirst)
          .starts_with("runners=2 envs=1 is better than the baseline, runners=1 envs=1: eval/return 10.00 ± 1.96 against "
                       "0.00 ± 1.96, difference +10.00 ± 2.31 (5 seeds each). "));
}

TEST(Headline, CountsRunsWithoutAScore) {
  std::vector<TrialData> failed = Returns(2, 18, 5), diverged = Returns(4, 18, 5);
  failed[0].state = TrialState::kFailed;
  failed[0].outcome = Outcome::kPlugin;
  failed[1].measures.erase("eval/return");
  diverged[0].measures["eval/return"] = Single(NAN);
  // By hand: 8, 19, 20, 21, 22 have the mean 18; 8 is the worst score of all.
  const std::string text = ComparisonHeadlineOf({Returns(1, 8, 5), failed, diverged}, kAgainstFirst);
  EXPECT_TRUE(Contains(text, "runners=4 envs=1 is better than the baseline, ")) << text;
  EXPECT_TRUE(Contains(text, ", +80 (")) << text;
  EXPECT_TRUE(
      Contains(text,
               " seeds per point, 1 of 5 runs diverged). Without a verdict: runners=2 envs=1 (1 of 5 runs failed, 1 of 5 runs "
               "have no eval/return). Of all runs, 1 of 15 runs diverged, 1 of 15 runs failed, 1 of 15 runs have no "
               "eval/return."))
      << text;
}

TEST(Headline, OneSeedPerPointHasNoVerdict) {
  EXPECT_EQ(
      "No verdict on eval/return: each point has one seed, and a verdict needs 4 or more. Baseline, runners=1 envs=1: 8 (1 "
      "seed "
      "each). With one seed: runners=2 envs=1 (+125 %). Higher is better.",
      ComparisonHeadlineOf({Returns(1, 8, 1), Returns(2, 18, 1)}, kAgainstFirst));
}

TEST(Headline, APointWithoutOwnScoresHasNoGain) {
  std::vector<TrialData> diverged = Returns(2, 0, 5);
  for (TrialData& trial : diverged) trial.measures["eval/return"] = Single(NAN);
  const std::string text = ComparisonHeadlineOf({Returns(1, 8, 5), Returns(4, 9, 5), diverged}, kAgainstFirst);
  EXPECT_TRUE(Contains(text, "5 of 5 runs diverged).")) << text;
  EXPECT_FALSE(Contains(text, "runners=2 envs=1 (-")) << text;
}

TEST(Headline, CountsAllRunsOfManyPointsThatAreNotConsidered) {
  std::vector<std::vector<TrialData>> points = {Returns(1, 8, 2)};
  for (const uint64_t runners : {2, 4, 8, 16, 32}) {
    points.push_back(Returns(runners, 8, 2));
    points.back()[0].measures["eval/return"] = Single(NAN);
  }
  const std::string text = ComparisonHeadlineOf(points, {});
  // 8 and 9: a single point is never called the best.
  EXPECT_TRUE(text.starts_with("runners=1 envs=1 wins by default, as the only point without diverged runs (eval/return 8.5"))
      << text;
  EXPECT_TRUE(Contains(text, ", 2 seeds): no margin to 5 points (5 of 12 runs diverged).")) << text;
  points[1][0].state = TrialState::kFailed, points[1][0].outcome = Outcome::kPlugin;
  EXPECT_TRUE(ComparisonHeadlineOf(points, {})
                  .starts_with("No comparison: only runners=1 envs=1 has all its scores "
                               "(eval/return 8.5"));
}

TEST(Headline, NamesNoBestOfRandomActions) {
  std::vector<std::vector<TrialData>> points = {Returns(1, 8, 1), Returns(2, 18, 1), Returns(4, 12, 1)};
  for (auto& trials : points)
    for (TrialData& trial : trials) trial.config["learner"]["plugin"] = "random";
  EXPECT_EQ(
      "No point is the best by eval/return, because all act at random: from 8 (runners=1 envs=1) to 18 (runners=2 envs=1). "
      "Higher is better.",
      ComparisonHeadlineOf(points, {}));
}

TEST(Headline, PointsOfOneValueAreNotSeparated) {
  const auto solved = [](uint64_t runners, double value) {
    std::vector<TrialData> trials = Returns(runners, 0, 5);
    for (TrialData& trial : trials) trial.measures["eval/return"] = Single(value);
    return trials;
  };
  EXPECT_TRUE(Contains(ComparisonHeadlineOf({solved(1, 500), solved(2, 500)}, kAgainstFirst),
                       "Not separated by this metric: runners=2 envs=1 (both 500 on each of 5 seeds)."));
  // By hand: 2 of C(10, 5) = 252 permutations are as extreme.
  EXPECT_TRUE(Contains(ComparisonHeadlineOf({solved(1, 9.4), solved(2, 500)}, kAgainstFirst),
                       " (5 seeds each, exact test, p = 0.0079: neither side has a spread)."));
  EXPECT_TRUE(Contains(ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 8, 5)}, kAgainstFirst),
                       " Identical, to the last bit: runners=2 envs=1 ("));
}

// By hand: the standard error of each difference is 1, and t is 2.306 with 8 degrees of freedom.
TEST(Headline, NamesASweepsBestPointAndItsRivals) {
  EXPECT_EQ(
      "runners=4 envs=1 leads by eval/return: 21.00 ± 1.96; not shown to be better than runners=2 envs=1 "
      "(20.00 ± 1.96, behind by 1.00 ± 2.31), but better than runners=1 envs=1; 5 seeds each. ± is a 95 % interval over seeds; "
      "higher is better.",
      ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 5), Returns(4, 19, 5)}, {}));
  EXPECT_EQ(
      "runners=2 envs=1 has the best eval/return: 20.00 ± 1.96; shown to be better than runners=1 envs=1 "
      "(10.00 ± 1.96) by 10.00 ± 2.31; 5 seeds each. ± is a 95 % interval over seeds; higher is better.",
      ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 5)}, {}));
  EXPECT_EQ(
      "runners=2 envs=1 leads by eval/return: 18; the next is runners=1 envs=1 (8), but one seed per point cannot "
      "show which is better. "
      "Higher is better.",
      ComparisonHeadlineOf({Returns(1, 8, 1), Returns(2, 18, 1)}, {}));
}

TEST(Headline, TheBestWithoutASpreadFollowsTheExactTest) {
  const auto solved = [](uint64_t runners, double value) {
    std::vector<TrialData> trials = Returns(runners, 0, 5);
    for (TrialData& trial : trials) trial.measures["eval/return"] = Single(value);
    return trials;
  };
  // By hand: 2 of C(10, 5) = 252 permutations, times 3 pairs of points, is 0.024; times 10 pairs, 0.079.
  EXPECT_EQ(
      "runners=2 envs=1 has the best eval/return: 500 ± 0; shown to be better than runners=1 envs=1 (9.4 ± 0) "
      "and than all below it; 5 seeds each. ± is a 95 % interval over seeds; higher is better.",
      ComparisonHeadlineOf({solved(1, 9.4), solved(2, 500), solved(4, 9.4)}, {}));
  EXPECT_TRUE(
      Contains(ComparisonHeadlineOf({solved(1, 9.4), solved(2, 500), solved(4, 9.4), solved(8, 9.4), solved(16, 9.4)}, {}),
               "not shown to be better than runners=1 envs=1 (9.4 ± 0), "));
}

TEST(Headline, CountsOnlyTheSeedsOfPointsThatWereJudged) {
  std::vector<TrialData> failed = Returns(4, 30, 2);
  failed[0].state = TrialState::kFailed;
  failed[0].outcome = Outcome::kPlugin;
  EXPECT_TRUE(Contains(ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 5), failed}, {}),
                       "shown to be better than runners=1 envs=1 (10.00 ± 1.96) by 10.00 ± 2.31; 5 seeds each; not considered: "
                       "runners=4 envs=1 (1 of 2 runs "
                       "failed)."));
}

TEST(Headline, ListsRivalsAndTheLeadOverTheNext) {
  EXPECT_TRUE(Contains(ComparisonHeadlineOf({Returns(1, 17, 5), Returns(2, 18, 5), Returns(4, 19, 5)}, {}),
                       "runners=4 envs=1 leads by eval/return: 21.00 ± 1.96; not shown to be better than runners=2 envs=1 "
                       "(20.00 ± 1.96, behind by 1.00 ± 2.31) and runners=1 envs=1 (19.00 ± 1.96); 5 seeds each."));
}

// A point with a diverged run is no candidate, although its mean is higher.
TEST(Headline, ARivalMayBeAhead) {
  std::vector<TrialData> diverged = Returns(4, 30, 5);
  diverged[0].measures["eval/return"] = Single(NAN);
  const std::string text = ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 5), diverged}, {});
  EXPECT_TRUE(text.starts_with("runners=2 envs=1 leads by eval/return")) << text;
  EXPECT_TRUE(Contains(text, ", ahead by ")) << text;
  EXPECT_FALSE(Contains(text, ", behind by ")) << text;
}

TEST(Headline, TheBestFollowsTheFilesSelection) {
  const auto select = [](nlohmann::json how) {
    return ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 5), Returns(4, 30, 5)}, {{"select", std::move(how)}});
  };
  EXPECT_TRUE(Contains(select({{"metric", "eval/return"}, {"direction", "minimize"}}), "runners=1 envs=1 was selected by"));
  EXPECT_TRUE(Contains(select({{"metric", "eval/return"}, {"direction", "maximize"}, {"where", "eval/return < 25"}}),
                       "runners=2 envs=1 was selected by"));
}

TEST(Headline, OneShortPointSilencesNoOther) {
  EXPECT_EQ(
      "runners=4 envs=1 has the best eval/return: 32.00 ± 1.96; shown to be better than runners=1 envs=1 "
      "(10.00 ± 1.96) by 22.00 ± 2.31; 5 seeds each; too few seeds for a comparison with runners=2 envs=1. ± is a 95 % "
      "interval "
      "over seeds; "
      "higher is better.",
      ComparisonHeadlineOf({Returns(1, 8, 5), Returns(2, 18, 1), Returns(4, 30, 5)}, {}));
}

TEST(Headline, IsTheFirstLine) {
  const Document document =
      ParallelEfficiencyReport({Set(Speeds({{1, 1000}, {2, 1500}, {4, 1900}, {8, 1200}}))}, Context("parallel_efficiency"));
  const std::string headline = document.verdict.at(0), text = RenderText(document), html = RenderHtml(document);
  EXPECT_EQ(0u, text.find(headline.substr(0, 40)));
  const std::string body = html.substr(html.find("<header>"));
  EXPECT_LT(body.find("4 x 1 is 1.9"), body.find("<h1>"));
  EXPECT_LT(body.find("id=\"s-results\""), body.find("id=\"s-findings\"")) << "one figure and one table, then findings";
}

}  // namespace
}  // namespace backplane
