// Verdicts on several points, intervals over looks and measured margins. bench/verdicts.cpp measures their error rates.
#include "statistics/several.hpp"

#include <gtest/gtest.h>

#include "statistics/contrast.hpp"
#include "statistics/looks.hpp"
#include "statistics/looks_interval.hpp"

namespace backplane::statistics {
namespace {

using Values = std::vector<double>;

const Values kBase = {1, 2, 3, 4, 5};

// SciPy's ttest_ind(equal_var=False): 0.01707168 and 8.488e-06. Holm multiplies the larger of two by 1, of three others by 3.
TEST(Several, CorrectsByHolm) {
  const Values close = {4, 5, 6, 7, 8}, far = {11, 12, 13, 14, 15}, same = {1, 2, 3, 4, 5.5}, other = {0, 2, 3, 4, 5};
  const std::vector<Judgement> two = JudgeAgainst({close, far}, kBase);
  EXPECT_NEAR(two[0].p, 0.01707168123378265, 1e-12);
  EXPECT_EQ(two[0].verdict, Verdict::kMore);
  const std::vector<Judgement> four = JudgeAgainst({close, same, far, other}, kBase);
  EXPECT_NEAR(four[0].adjusted_p, 3 * 0.01707168123378265, 1e-12);
  EXPECT_EQ(four[0].verdict, Verdict::kNotShown);
  EXPECT_NEAR(four[2].adjusted_p, 4 * 8.488181527628489e-06, 1e-15);
  EXPECT_EQ(four[2].verdict, Verdict::kMore);
  EXPECT_EQ(JudgeAgainst({{1, 2, 3}}, kBase)[0].verdict, Verdict::kTooFew);
}

// Welch's p of 4 solved runs against 0 of 5 is 0.016, the exact one 0.048. For 9 against 4 of 10: 0.020 and 0.057.
TEST(Several, JudgesTwoValuesExactly) {
  const Values none(5, 0), four = {500, 500, 500, 500, 0};
  const Judgement told = JudgeAgainst({four}, none)[0];
  EXPECT_NEAR(told.p, 0.047619047619, 1e-9);
  EXPECT_TRUE(told.exact);
  EXPECT_EQ(told.verdict, Verdict::kMore);
  EXPECT_EQ(JudgeAgainst({four, four}, none)[0].verdict, Verdict::kNotShown);
  const Values nine = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, others = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_NEAR(JudgeAgainst({nine}, others)[0].p, 0.057275541795665, 1e-9);
  EXPECT_EQ(JudgeAgainst({nine}, others)[0].verdict, Verdict::kNotShown);
  EXPECT_EQ(*RuledOut({nine, others}, 0), (std::vector<char>{0, 0}));
  // By enumeration of all deals of 9 solved runs to three points, a range as wide has p = 0.066. Ranges of normal scores would
  // rule the last point out.
  const Values five(5, 1), three = {1, 1, 1, 0, 0}, one = {1, 0, 0, 0, 0};
  EXPECT_EQ(*RuledOut({five, three, one}, 0), (std::vector<char>{0, 0, 0}));
  EXPECT_EQ(*RuledOut({five, one, {0, 0, 0, 0, 0}}, 0), (std::vector<char>{0, 1, 1})) << "p = 0.006";
}

TEST(Several, RulesOutOnlyClearlyWorsePoints) {
  const Values best = {21, 22, 23, 24, 25}, close = {20, 23, 22, 24, 25};
  EXPECT_EQ(*RuledOut({best, close, kBase}, 0), (std::vector<char>{0, 0, 1}));
  EXPECT_EQ(*RuledOut({best, kBase, {3, 2, 1, 5, 4}}, 0), (std::vector<char>{0, 1, 1}));
  EXPECT_EQ(*RuledOut({kBase, best, close}, 0), (std::vector<char>{0, 0, 0})) << "a better point is never ruled out";
  EXPECT_EQ(*RuledOut({{5, 5, 5, 5}, {6, 6, 6, 6}}, 1), (std::vector<char>{1, 0})) << "no spread: 2 of 70 deals";
  EXPECT_EQ(*RuledOut({{5, 5, 5, 5}, {6, 6, 6, 6}, {7, 7, 7, 7}}, 2), (std::vector<char>{0, 0, 0})) << "6 of 70 of three pairs";
}

// Pocock (1977): z = 2.178, 2.289, 2.413, 2.555 for 2, 3, 5, 10 looks at 5 %.
TEST(LooksInterval, HasPococksShares) {
  EXPECT_DOUBLE_EQ(ShareOfALook(1, 0.05), 0.05);
  EXPECT_NEAR(ShareOfALook(2, 0.05), 0.0294, 1e-4);
  EXPECT_NEAR(ShareOfALook(3, 0.05), 0.0221, 1e-4);
  EXPECT_NEAR(ShareOfALook(5, 0.05), 0.0158, 1e-4);
  EXPECT_NEAR(ShareOfALook(10, 0.05), 0.0106, 1e-4);
}

// SciPy's ttest_ind of b against a times the factor.
TEST(Contrast, IsWelchsOfScaledSamples) {
  const Values a = {3258, 2794, 4102, 1017, 3566, 3890}, b = {2501, 1875, 3120, 2650, 990, 2275};
  const auto contrast = WelchContrast({{b, 1}, {a, -1.3}});
  EXPECT_NEAR(contrast->t, -2.698442008319866, 1e-12);
  EXPECT_NEAR(contrast->degrees_of_freedom, 7.387583600127277, 1e-12);
  EXPECT_NEAR(contrast->p, 0.029194940436808973, 1e-12);
  EXPECT_NEAR(EquivalenceWithinShare(a, b, a, 0.9)->p, 0.003450430131241272, 1e-12);
}

// One outlier: the permutation test shows a difference, Welch's test does not, even with ten scores.
TEST(Looks, EndWhenBothTestsAgree) {
  const Values a = {1, 1.1, 1.2, 1.3, 100, 1, 1.1, 1.2, 1.3, 1.2}, b = {0, 0.1, 0.2, 0.3, 0.4, 0, 0.1, 0.2, 0.3, 0.4};
  const LooksTaken taken = TakeLooks(a, b, 5, {.looks = 2});
  EXPECT_TRUE(taken.told_apart);
  EXPECT_EQ(taken.looks, 2u);
  EXPECT_FALSE(taken.confirmed);
  const Values fives(10, 5), sixes(10, 6);
  EXPECT_EQ(TakeLooks(fives, sixes, 5, {.looks = 2}).looks, 1u);
  EXPECT_EQ(TakeLooks(fives, sixes, 5, {.looks = 2}, 1 - kLevel, 2).looks, 2u) << "few equal scores may hide a spread";
}

}  // namespace
}  // namespace backplane::statistics
