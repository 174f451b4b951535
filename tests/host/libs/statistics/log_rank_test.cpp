#include "statistics/log_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "statistics/sample.hpp"

namespace backplane::statistics {
namespace {

// Weeks until a relapse of leukaemia, of Freireich et al. (1963), the example of many textbooks.
const Arrivals kTreated = {{6, true},   {6, true},   {6, true},   {6, false},  {7, true},   {9, false},  {10, true},
                           {10, false}, {11, false}, {13, true},  {16, true},  {17, false}, {19, false}, {20, false},
                           {22, true},  {23, true},  {25, false}, {32, false}, {32, false}, {34, false}, {35, false}};
Arrivals Placebo() {
  Arrivals arm;
  for (const double week : {1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23}) arm.push_back({week, true});
  return arm;
}

constexpr double kBudget = 100;
Arrivals Reached(std::initializer_list<double> times) {
  Arrivals arm;
  for (const double time : times) arm.push_back({time, time < kBudget});
  return arm;
}

double Sum(const std::vector<double>& scores) { return std::accumulate(scores.begin(), scores.end(), 0.0); }

TEST(LogRank, ExpectsTheEventsOfTheTextbook) {
  const LogRankScores scores = ScoresOfLogRank(kTreated, Placebo());
  EXPECT_NEAR(Sum(scores.a), 19.25 - 9, 0.005) << "9 relapses, 19.25 expected";
  EXPECT_NEAR(Sum(scores.b), 10.75 - 21, 0.005);
  EXPECT_TRUE(IsSlower(kTreated, Placebo()));
  const PermutationTest test = LogRankPermutation(kTreated, Placebo(), 1);
  EXPECT_FALSE(test.exact);
  EXPECT_LT(test.p, 0.001) << "chi-squared is 16.79";
}

TEST(LogRank, TriesEveryAssignmentOfFewTrials) {
  const Arrivals a = {{5, true}, {3, true}, {10, false}, {10, false}, {7, true}},
                 b = {{9, true}, {10, false}, {10, false}, {6, true}, {10, false}};
  EXPECT_NEAR(Sum(ScoresOfLogRank(a, b).a), -0.91865079365, 1e-10) << "SciPy's statistic times its standard error";
  const PermutationTest test = LogRankPermutation(a, b);
  EXPECT_EQ(test.extreme, 92u) << "enumerated in Python";
  EXPECT_EQ(test.deals, 252u);
  EXPECT_EQ(LogRankPermutation(Reached({1, 2, 3}), Reached({4, 5, 100})).p, 0.1) << "disjoint arms: 2 of 20";
  EXPECT_EQ(LogRankPermutation(Reached({100, 100}), Reached({100, 100, 100})).p, 1) << "no trial reached it";
}

TEST(RestrictedMean, IsTheAreaUnderKaplanMeiersCurve) {
  const RestrictedMean treated = MeanUpTo(kTreated, 23);
  EXPECT_NEAR(treated.value, 17.909243697, 1e-9);
  EXPECT_NEAR(treated.standard_error, 1.5915461237, 1e-9);
  EXPECT_NEAR(MeanUpTo(Placebo(), 23).value, 8.6666666667, 1e-9);
  const RestrictedMean early = MeanUpTo({{5, true}, {3, false}, {10, false}, {8, false}, {7, true}}, 10);
  EXPECT_NEAR(early.value, 8, 1e-12);
  EXPECT_NEAR(early.standard_error, 1.1858541226, 1e-9);
}

TEST(RestrictedMean, EqualsTheMeanIfAllAreCensoredAtTheBudget) {
  const std::vector<double> a = {50, 30, 100, 100, 70}, b = {90, 100, 100, 60, 100};
  const Arrivals of_a = Reached({50, 30, 100, 100, 70}), of_b = Reached({90, 100, 100, 60, 100});
  const Sample sample = Summarise(a);
  EXPECT_NEAR(MeanUpTo(of_a, kBudget).value, sample.mean, 1e-12);
  EXPECT_NEAR(MeanUpTo(of_a, kBudget).standard_error, std::sqrt(sample.variance / 5), 1e-12);
  const auto ours = RestrictedDifference(of_a, of_b), welch = WelchDifference(a, b);
  ASSERT_TRUE(ours && welch);
  EXPECT_NEAR(ours->p, welch->p, 1e-12);
  EXPECT_NEAR(ours->low, welch->low, 1e-9);
  EXPECT_FALSE(RestrictedDifference(Reached({100, 100}), Reached({100, 100}))) << "no spread";
}

TEST(RestrictedMean, ExtrapolatesNoCurve) {
  EXPECT_EQ(CommonHorizon({{{5, true}, {40, false}}, {{90, false}}}), 40);
  EXPECT_EQ(CommonHorizon({{{5, true}, {40, true}}, {{90, false}}}), 90) << "the first curve has reached 0";
  EXPECT_EQ(CommonHorizon({{{5, true}}, {{9, true}}}), 9);
}

TEST(LogRank, LooksStopOnceTheArmsDiffer) {
  const Arrivals fast = Reached({10, 12, 11, 13, 9, 10, 12, 11, 13, 9}),
                 slow = Reached({50, 60, 100, 55, 70, 80, 100, 62, 58, 71});
  const LooksTaken taken = TakeLooks(fast, slow, 5, {.looks = 2});
  EXPECT_TRUE(taken.confirmed);
  EXPECT_EQ(taken.looks, 1u);
  EXPECT_FALSE(taken.first_is_more) << "it is sooner";
  EXPECT_FALSE(TakeLooks(slow, slow, 5, {.looks = 2}).confirmed);
}

// The first arm is ahead at first, but one of its trials never arrives.
TEST(LogRank, CrossingCurvesHaveNoVerdict) {
  const Arrivals crossing = Reached({1, 1, 1, 1, 1, 1, 1, 1, 1, 100}), late = Reached({5, 5, 5, 5, 5, 6, 6, 6, 6, 6});
  EXPECT_LT(LogRankPermutation(crossing, late).p, 0.05);
  EXPECT_TRUE(IsSlower(late, crossing));
  EXPECT_GT(MeanUpTo(crossing, 100).value, MeanUpTo(late, 100).value);
  EXPECT_FALSE(MeansAgree(crossing, late));
  EXPECT_EQ(JudgeAgainst({crossing}, late)[0].verdict, Verdict::kNotShown);
}

TEST(LogRank, JudgesPointsTogether) {
  const Arrivals base = Reached({60, 62, 58, 70, 66}), fast = Reached({10, 12, 11, 13, 9}),
                 never = Reached({100, 100, 100, 100, 100});
  const std::vector<Judgement> judged = JudgeAgainst({fast, base, never, Reached({1, 2, 3})}, base);
  EXPECT_EQ(judged[0].verdict, Verdict::kLess);
  EXPECT_DOUBLE_EQ(judged[0].p, 2.0 / 252);
  EXPECT_DOUBLE_EQ(judged[0].adjusted_p, 6.0 / 252) << "Holm: three tests";
  EXPECT_EQ(judged[1].verdict, Verdict::kNotShown);
  EXPECT_EQ(judged[2].verdict, Verdict::kMore);
  EXPECT_EQ(judged[3].verdict, Verdict::kTooFew);
  EXPECT_EQ(*RuledOut({fast, base, Reached({11, 10, 12, 9, 14})}, 0), (std::vector<char>{0, 1, 0}));
}

TEST(LogRank, GateComparesWithAMultipleOfTheBaseline) {
  const Arrivals before = Reached({40, 42, 38, 41, 39, 40, 42, 38, 41, 100}),
                 slower = Reached({60, 62, 58, 61, 59, 60, 62, 58, 61, 100});
  const LimitPlan plan{.n = 5, .looks = 2};
  EXPECT_EQ(TestArrivals(before, slower, 1.05, plan).side, Side::kAbove);
  EXPECT_EQ(TestArrivals(slower, before, 1.05, plan).side, Side::kBelow);
  EXPECT_EQ(TestArrivals(before, before, 1.0, plan).side, Side::kNotShown);
  EXPECT_EQ(TestArrivals(before, slower, 1.05, {}).side, Side::kAbove) << "one look";
  EXPECT_EQ(TestArrivals(before, slower, 2, {}).side, Side::kBelow);
  EXPECT_EQ(TestArrivals({}, slower, 1, plan).looks, 0u);
}

}  // namespace
}  // namespace backplane::statistics
