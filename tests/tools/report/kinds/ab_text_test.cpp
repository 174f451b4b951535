// What a comparison says in words.
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

TEST(AbText, TheHeadlineOfThreeArmsSaysWhatIsKnownOfPairs) {
  const AbScores scores = Of({{"a", kGood}, {"b", kWorse}, {"c", kAsGood}}, {.looks = 1});
  const std::vector<std::string> verdict = VerdictOfArms(scores, Judge(scores.arms, scores.terms));
  EXPECT_EQ(verdict.front(),
            "No arm is better than all others: a is better than b, c is better than b; a and c are not shown to differ.");
  EXPECT_THAT(verdict[1], StartsWith("a is better than b by"));
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
  EXPECT_EQ(verdict(solved, solved), "eval/return: a and b are both 500 in all 5 seeds: this metric cannot separate them.");
  // By hand: 500 - 9.4 = 490.6.
  EXPECT_THAT(verdict(fell, solved),
              StartsWith("b is better than a by 490.6 on every seed: neither arm has a spread, and the exact test decides."));
  EXPECT_THAT(verdict(kGood, kGood),
              StartsWith("a and b are identical, to the last bit: each of 5 seeds has the same eval/return on both sides."));
}

TEST(AbText, MeansAndVerdictComeFromTheSameSeeds) {
  const AbScores scores = Of({{"a", {1, 2, 3, 4}}, {"b", {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}}, {.scores = 4, .looks = 1});
  // By hand: 3.182 x 1.291 / 2 = 2.05 and 2.262 x 3.028 / sqrt(10) = 2.17.
  EXPECT_THAT(VerdictOfArms(scores, Judge(scores.arms, scores.terms)).front(),
              HasSubstr("eval/return: a 2.50 ± 2.05, b 15.50 ± 2.17; 4 and 10 seeds."));
}

TEST(AbText, WhereItStandsOfThreeArmsIsOfAllPairs) {
  const AbScores scores = Of({{"a", kGood}, {"b", kWorse}, {"c", kAsGood}}, {.looks = 3, .alpha = 0.3});
  EXPECT_EQ(StandingOfArms(scores, Judge(scores.arms, scores.terms)),
            "look 1 of 3: a is better than b, c is better than b; a and c are not shown to differ: not decided");
}

TEST(AbText, ASpeedHasItsCpuTimeBesideIt) {
  const std::vector<double> a = {100, 101, 99, 100, 102, 100}, b = {50, 51, 50, 49, 50, 50};
  // NumPy: 1.00168 (0.99448 to 1.00892).
  const std::vector<double> cpu_a = {10, 10.1, 10.2, 10, 9.9, 10.1}, cpu_b = {10.1, 10, 10, 10.2, 10, 10.1};
  const AbScores scores = Of({{"a", a, 0, false, cpu_a}, {"b", b, 0, false, cpu_b}}, {.speed = true, .scores = 3, .looks = 1});
  const ArmsJudgement judged = Judge(scores.arms, scores.terms);
  EXPECT_THAT(VerdictOfArms(scores, judged).front(), HasSubstr("; CPU time 1 times (0.994 to 1.01)"));
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

}  // namespace
}  // namespace backplane
