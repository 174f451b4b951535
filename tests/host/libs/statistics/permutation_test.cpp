#include "statistics/permutation.hpp"

#include <gtest/gtest.h>

namespace backplane::statistics {
namespace {

using Scores = std::vector<double>;

// Counts from SciPy 1.17.1.
const Scores kX = {3258, 2794, 4102, 1017, 3566, 3890}, kY = {2501, 1875, 3120, 2650, 990, 2275};

TEST(Permutation, EveryDealIsTried) {
  const PermutationTest unpaired = UnpairedPermutation(kX, kY);
  EXPECT_EQ(unpaired.extreme, 132u);
  EXPECT_EQ(unpaired.deals, 924u);
  EXPECT_TRUE(unpaired.exact);
}

TEST(Permutation, DisjointArmsHaveTheSmallestP) {
  EXPECT_DOUBLE_EQ(UnpairedPermutation({1, 2, 3}, {4, 5, 6}).p, 0.1);
  EXPECT_DOUBLE_EQ(LeastUnpairedP(3, 3), 0.1);
  EXPECT_NEAR(LeastUnpairedP(4, 4), 0.029, 5e-4);
  EXPECT_NEAR(LeastUnpairedP(5, 5), 0.0079, 5e-5);
  EXPECT_NEAR(LeastUnpairedP(6, 6), 0.0022, 5e-5);
  EXPECT_DOUBLE_EQ(LeastUnpairedP(3, 4), 1.0 / 35);
  EXPECT_DOUBLE_EQ(UnpairedPermutation({1, 2, 3}, {4, 4.1, 4.2, 4.3}).p, 1.0 / 35);
}

// 1e6 + 0.1 is not representable: a mirrored deal of such scores differs in its last digits, but is still a tie.
TEST(Permutation, TiesSurviveRoundingFarFromZero) {
  Scores a, b;
  for (const double score : {0.1, 0.2, 0.4, 0.3}) a.push_back(1e6 + score);
  for (const double score : {0.7, 0.6, 0.9, 0.8}) b.push_back(1e6 + score);
  EXPECT_EQ(UnpairedPermutation(a, b).extreme, 2u);
}

TEST(Permutation, ManyScoresAreDealtAtRandom) {
  Scores a, b;
  for (int i = 0; i < 20; ++i) a.push_back(i), b.push_back(i + 5.5);
  const PermutationTest test = UnpairedPermutation(a, b, 1);
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.deals, static_cast<uint64_t>(kDeals));
  // SciPy with 200,000 random deals: 0.0065.
  EXPECT_NEAR(test.p, 0.0065, 0.003);
  EXPECT_EQ(UnpairedPermutation(a, b, 1).extreme, test.extreme);
  EXPECT_NE(UnpairedPermutation(a, b, 2).extreme, test.extreme);
  // No deal was as extreme, but p is not 0.
  for (double& score : b) score += 1000;
  EXPECT_DOUBLE_EQ(UnpairedPermutation(a, b, 1).p, 1.0 / (kDeals + 1));
}

// SciPy's fisher_exact of equal sizes: ([[4, 1], [0, 5]]) 0.0476190476, ([[9, 1], [3, 7]]) 0.0197666111; one tail half of it.
TEST(Permutation, TwoValuesAreCountedByFishersFormula) {
  const auto solved = [](size_t count, size_t runs) {
    Scores scores(runs, 0);
    std::fill_n(scores.begin(), count, 500);
    return scores;
  };
  EXPECT_NEAR(UnpairedPermutation(solved(4, 5), solved(0, 5)).p, 0.047619047619, 1e-9);
  EXPECT_NEAR(UnpairedPermutation(solved(9, 10), solved(3, 10)).p, 0.019766611098, 1e-9);
  EXPECT_NEAR(UnpairedPermutation(solved(9, 10), solved(3, 10), 0, Tail::kUpper).p, 0.019766611098 / 2, 1e-9);
  EXPECT_EQ(UnpairedPermutation(solved(3, 10), solved(9, 10)).deals, 184'756u);
  const PermutationTest many = UnpairedPermutation(solved(19, 25), solved(9, 25));
  EXPECT_TRUE(many.exact);
  EXPECT_NEAR(many.p, 0.009595048588, 1e-9);
  // The enumeration of all deals, which a third value brings back.
  Scores third = solved(2, 6);
  third[0] += 1e-7;
  EXPECT_EQ(UnpairedPermutation(solved(5, 6), solved(2, 6)).extreme, UnpairedPermutation(solved(5, 6), third).extreme);
}

TEST(Permutation, EqualScoresHaveP1) { EXPECT_EQ(UnpairedPermutation({5, 5, 5}, {5, 5, 5}).p, 1); }

TEST(Holm, StepsDownInTheOrderOfP) {
  const Scores adjusted = HolmAdjusted({0.040, 0.010, 0.030});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_EQ(HolmAdjusted({0.5, 0.6}), (Scores{1, 1}));
}

}  // namespace
}  // namespace backplane::statistics
