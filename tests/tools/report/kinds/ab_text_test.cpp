// Sentences of a comparison.
#include "kinds/ab_text.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

AbScores Of(std::vector<ArmScores> arms, JudgeTerms terms) {
  return {
      {Expression::OfMeasures("eval/return"), "eval/return", "", 1, 4, false, ""}, std::move(terms), std::move(arms), {}, {}};
}

const std::vector<double> kWorse = {1, 2, 3, 4, 5}, kGood = {11, 12, 13, 14, 15}, kAsGood = {12, 11, 15, 13, 14};

TEST(AbText, TheHeadlineOfThreeArmsListsTheirKnownPairs) {
  const AbScores scores = Of({{"a", kGood}, {"b", kWorse}, {"c", kAsGood}}, {.looks = 1});
  const std::vector<std::string> verdict = VerdictOfArms(scores, Judge(scores.arms, scores.terms));
  EXPECT_EQ(verdict.front(),
            "No arm is better than all others: a is better than b, c is better than b; a and c are not shown to differ.");
  EXPECT_THAT(verdict[1], StartsWith("a is better than b: its eval/return is higher by "));
  const AbScores won = Of({{"a", {21, 22, 23, 24, 25}}, {"b", kGood}, {"c", kAsGood}}, {.looks = 1});
  EXPECT_EQ(VerdictOfArms(won, Judge(won.arms, won.terms)).front(),
            "a is better than every other arm: a is better than b, a is better than c; b and c are not shown to differ.");
  const AbScores all = Of({{"a", kGood}, {"b", kWorse}, {"c", {21, 22, 23, 24, 25}}}, {.looks = 1});
  EXPECT_EQ(VerdictOfArms(all, Judge(all.arms, all.terms)).front(), "Ranking: c > a > b.");
}

TEST(AbText, ArmsWithoutASpreadAreNotInvalid) {
  const auto verdict = [](const std::vector<double>& a, const std::vector<double>& b) {
    const AbScores scores = Of({{"a", a}, {"b", b}}, {.looks = 1});
    return VerdictOfArms(scores, Judge(scores.arms, scores.terms)).front();
  };
  const std::vector<double> solved(5, 500), fell(5, 9.4);
  EXPECT_EQ(verdict(solved, solved), "eval/return: a and b are both 500 on each of 5 seeds: this metric cannot separate them.");
  // By hand: 500 - 9.4 = 490.6.
  EXPECT_THAT(
      verdict(fell, solved),
      StartsWith("b is better than a: its eval/return is higher by 490.6 on every seed: neither arm has a spread, and the "
                 "exact test decides."));
  EXPECT_THAT(verdict(kGood, kGood),
              StartsWith("a and b are identical, to the last bit: each of 5 seeds has the same eval/return on both sides."));
}

// By hand: means of 328,000 / 8 and 840,000 / 8; 1,773 is 2.3646 standard errors of 750.
TEST(AbText, StepsToAGoalSayWhoArrivesSooner) {
  const auto arm = [](const std::string& name, const std::vector<double>& steps) {
    ArmScores scores{name, steps};
    for (const double one : steps) scores.reached.push_back(one < 200'000);
    return scores;
  };
  const ArmScores fast = arm("lr=0.01", {40'000, 41'000, 39'000, 42'000, 38'000, 43'000, 40'500, 44'500}),
                  slow = arm("lr=0.1", {60'000, 80'000, 70'000, 65'000, 75'000, 90'000, 200'000, 200'000});
  const auto verdict = [](std::vector<ArmScores> arms) {
    const MeasureSpec steps = *MeasureOfText("steps_to(eval/return, 475)");
    const AbScores scores{steps, {.direction = -1, .looks = 1, .goal = steps.StepsGoal()}, std::move(arms), {}, {}};
    return VerdictOfArms(scores, Judge(scores.arms, scores.terms)).front();
  };
  EXPECT_THAT(verdict({slow, fast}),
              StartsWith("lr=0.01 reaches eval/return 475 sooner than lr=0.1: 41,000 ± 1,773 env steps against 105,000 ± "));
  EXPECT_THAT(verdict({slow, fast}), HasSubstr("8 seeds each; 2 never reached it within 200,000). The difference is "));
  const ArmScores never = arm("a", std::vector<double>(5, 200'000)), nor = arm("b", std::vector<double>(5, 200'000));
  EXPECT_EQ(verdict({never, nor}),
            "Neither a nor b reached eval/return 475 within 200,000 env steps on any of 5 seeds, so they cannot be compared.");
}

TEST(AbText, MeansAndVerdictComeFromTheSameSeeds) {
  const AbScores scores = Of({{"a", {1, 2, 3, 4}}, {"b", {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}}, {.scores = 4, .looks = 1});
  // By hand: 3.182 x 1.291 / 2 = 2.05 and 2.262 x 3.028 / sqrt(10) = 2.17.
  EXPECT_THAT(VerdictOfArms(scores, Judge(scores.arms, scores.terms)).front(),
              HasSubstr("eval/return: a 2.50 ± 2.05, b 15.50 ± 2.17 (± 95 %; 4 and 10 seeds)."));
}

TEST(AbText, ReportsThePresentStateOfAllPairsOfThreeArms) {
  const AbScores scores = Of({{"a", kGood}, {"b", kWorse}, {"c", kAsGood}}, {.looks = 3, .alpha = 0.3});
  EXPECT_EQ(StandingOfArms(scores, Judge(scores.arms, scores.terms)),
            "look 1 of 3: a is better than b, c is better than b; a and c are not shown to differ: not decided");
}

TEST(AbText, ASpeedIsReportedWithItsCpuTime) {
  const std::vector<double> a = {100, 101, 99, 100, 102, 100}, b = {50, 51, 50, 49, 50, 50};
  // NumPy: 1.00168 (0.99448 to 1.00892).
  const std::vector<double> cpu_a = {10, 10.1, 10.2, 10, 9.9, 10.1}, cpu_b = {10.1, 10, 10, 10.2, 10, 10.1};
  const AbScores scores = Of({{"a", a, 0, false, cpu_a}, {"b", b, 0, false, cpu_b}}, {.speed = true, .scores = 3, .looks = 1});
  const ArmsJudgement judged = Judge(scores.arms, scores.terms);
  EXPECT_THAT(VerdictOfArms(scores, judged).front(), HasSubstr("; CPU time 1 times (95 % interval 0.994 to 1.01)"));
  EXPECT_EQ(EvidenceTable(scores, judged).columns[2].key, "cpu");
  const AbScores learning = Of({{"a", kWorse}, {"b", kGood}}, {});
  const ArmsJudgement of_learning = Judge(learning.arms, learning.terms);
  EXPECT_THAT(VerdictOfArms(learning, of_learning).front(), testing::Not(HasSubstr("CPU")));
  EXPECT_EQ(EvidenceTable(learning, of_learning).columns.size(), EvidenceTable(learning, of_learning).rows[0].size());
  EXPECT_EQ(EvidenceTable(scores, judged).columns.size(), EvidenceTable(scores, judged).rows[0].size());
}

TEST(AbText, TheMeansOfASpeedAreOfTheBlocksThatCount) {
  const std::vector<double> a = {100, 101, 10, 10, 100, 99}, b = {50, 51, 5, 5, 50, 49};
  AbScores scores = Of({{"a", a}, {"b", b}}, {.speed = true, .scores = 3, .looks = 1, .disturbed = {0, 1, 0}});
  const std::string verdict = VerdictOfArms(scores, Judge(scores.arms, scores.terms)).front();
  EXPECT_THAT(verdict, AllOf(HasSubstr("a 100.0 ± "), HasSubstr("b 50.00 ± "), HasSubstr("2 blocks")));
}

std::string SentencesOf(const AbScores& scores) {
  std::string text;
  for (const std::string& sentence : VerdictOfArms(scores, Judge(scores.arms, scores.terms))) text += sentence + " ";
  return text;
}

const std::vector<double> kNearZero = {0, 0.1, 0.2, 0.3, 0.4};

TEST(AbText, AnEarlyStopHasAnIntervalOverLooksAndABiasedLead) {
  // By hand: 10 +- 3.0503 x sqrt(2.5 / 5 x 2); 3.0503 is Student's quantile at Pocock's share of five looks, 0.0158.
  EXPECT_EQ(SentencesOf(Of({{"a", kWorse}, {"b", kGood}}, {})),
            "b is better than a: its eval/return is higher by 10 (95 % interval 6.950 to 13.05). eval/return: a 3.00 ± 1.96, "
            "b 13.00 ± 1.96 (± 95 %; 5 seeds each). "
            "The comparison stopped at look 1 of 5, because the answer was known; with all looks, at most 5 % of comparisons "
            "of equal arms "
            "find a difference. A lead at an early stop is too large on average: expect a smaller lead in new runs. "
            "Below 10 seeds the interval of the IQM covers less than 95 %. ");
}

TEST(AbText, TheBetterArmOfALossIsLower) {
  AbScores scores = Of({{"a", kWorse}, {"b", kGood}}, {.direction = -1, .looks = 1});
  EXPECT_THAT(SentencesOf(scores), StartsWith("a is better than b: its eval/return is lower by 10 (95 % interval "));
}

TEST(AbText, AnEarlyStopIsNotKnownIfTheMachineWasBusy) {
  const std::vector<double> a = {100, 101, 99, 100, 102, 100}, b = {50, 51, 50, 49, 50, 50};
  const AbScores busy =
      Of({{"a", a}, {"b", b}}, {.speed = true, .scores = 1, .looks = 3, .disturbed = std::vector<char>(3, 1)});
  EXPECT_THAT(WhyStopped(busy, Judge(busy.arms, busy.terms)),
              StartsWith("The comparison stopped at look 2 of 3; with all looks"));
  const AbScores once = Of({{"a", kWorse}, {"b", kGood}}, {.looks = 1});
  EXPECT_EQ(WhyStopped(once, Judge(once.arms, once.terms)),
            "Judged once: at most 5 % of comparisons of equal arms find a difference.");
}

TEST(AbText, ExplainsTestsThatDisagree) {
  // SciPy's ttest_ind(equal_var=False): p = 0.3538; 2 of 252 permutations are as extreme.
  EXPECT_THAT(
      SentencesOf(Of({{"a", kNearZero}, {"b", {1, 1.1, 1.2, 1.3, 100}}}, {.looks = 1})),
      HasSubstr(" The permutation test shows a difference, but Welch's test does not (p = 0.35). A few extreme scores or "
                "unequal spreads can cause this; a verdict needs both. "));
  // By hand: 2 of C(6, 3) = 20 ways; Welch's interval is 100 +- 2.776 x sqrt(2 / 3).
  EXPECT_THAT(SentencesOf(Of({{"a", {1, 2, 3}}, {"b", {101, 102, 103}}}, {.scores = 3, .looks = 1})),
              HasSubstr("difference 100 (95 % interval 97.73 to 102.3). The interval of these two arms excludes 0, but the "
                        "permutation test, which decides, shows no difference (p = 0.1)."));
}

TEST(AbText, ExplainsAVerdictNextToAnIntervalWithZero) {
  // SciPy: p = 0.0421 at the first of two looks. By hand: 0.68 +- 0.7591, at Pocock's share of two looks, 0.0294.
  const std::string text = SentencesOf(Of({{"a", kNearZero}, {"b", {0.5, 0.6, 0.7, 0.8, 1.8}}}, {.looks = 2}));
  EXPECT_THAT(text, StartsWith("b is better than a: its eval/return is higher by 0.6800 (95 % interval -0.0791"));
  EXPECT_THAT(text, HasSubstr(" The interval allows for all 2 looks and includes 0; the permutation test, which decides, shows "
                              "the difference. "));
}

TEST(AbText, SeedsNeededHaveTheirPower) {
  // By hand: 8 x (1.960 + 0.842)^2 x 2 / 7 = 17.9, rounded up, and one more.
  const AbScores scores = Of({{"a", {-1, 1, -1, 1, -1, 1, -1, 1}}, {"b", {0, 2, 0, 2, 0, 2, 0, 2}}}, {.scores = 8, .looks = 1});
  EXPECT_THAT(SentencesOf(scores),
              HasSubstr(" With about 19 seeds per arm, 80 % of comparisons would show an effect of the size seen. "));
}

TEST(AbText, AMarginIsAShareOfTheFirstArm) {
  const std::vector<double> half = {50.1, 50.3, 49.9, 50.2, 49.8}, a = {100, 101, 99, 100.5, 99.5},
                            b = {100.2, 100.9, 99.3, 100.1, 99.8};
  EXPECT_THAT(SentencesOf(Of({{"half", half}, {"a", a}, {"b", b}}, {.margin_pct = 5, .looks = 1})),
              HasSubstr("a and b are equivalent: they differ by less than 5 % of half."));
}

}  // namespace
}  // namespace backplane
