// Verdicts on arms, by scores that a person can judge, too.
#include "kinds/ab_verdict.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "fingerprinted.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Scores = std::vector<double>;

PairJudgement JudgePair(const Scores& a, const Scores& b, const JudgeTerms& terms) {
  return Judge({{"a", a}, {"b", b}}, terms).pairs.front();
}

const Scores kLow = {1, 2, 3, 4, 5}, kHigh = {11, 12, 13, 14, 15};

TEST(ArmsJudgement, ArmsFarApartAreDistinguishedAtTheFirstLook) {
  const PairJudgement pair = JudgePair(kLow, kHigh, {});
  EXPECT_EQ(pair.answer, Answer::kSecond);
  EXPECT_TRUE(pair.decided);
  EXPECT_EQ(pair.looks, 1u);
  EXPECT_EQ(pair.n, 5u);
  EXPECT_DOUBLE_EQ(pair.difference->value, 10);
  EXPECT_EQ(pair.probability, 1);
  EXPECT_EQ(*pair.iqm_second - *pair.iqm_first, 10);
}

TEST(ArmsJudgement, TheDirectionDecidesTheBetterArm) {
  EXPECT_EQ(JudgePair(kLow, kHigh, {.direction = -1}).answer, Answer::kFirst);
  EXPECT_EQ(JudgePair(kLow, kHigh, {.direction = -1}).probability, 0);
}

TEST(ArmsJudgement, ScoresAfterTheAnswerDoNotCount) {
  Scores low = kLow, high = kHigh;
  low.insert(low.end(), {100, 100, 100, 100, 100});
  high.insert(high.end(), {0, 0, 0, 0, 0});
  const PairJudgement pair = JudgePair(low, high, {});
  EXPECT_EQ(pair.answer, Answer::kSecond);
  EXPECT_EQ(pair.n, 5u);
}

TEST(ArmsJudgement, EqualArmsAreInconclusiveAndNotDecidedBeforeTheLastLook) {
  const Scores some = {5, 1, 4, 2, 3};
  PairJudgement pair = JudgePair(kLow, some, {.looks = 2});
  EXPECT_EQ(pair.answer, Answer::kInconclusive);
  EXPECT_FALSE(pair.decided);
  Scores twice = kLow, other = some;
  twice.insert(twice.end(), kLow.begin(), kLow.end());
  other.insert(other.end(), some.begin(), some.end());
  pair = JudgePair(twice, other, {.looks = 2});
  EXPECT_EQ(pair.looks, 2u);
  EXPECT_TRUE(pair.decided);
  EXPECT_EQ(pair.answer, Answer::kInconclusive);
  EXPECT_FALSE(pair.scores_needed.has_value());  // no effect was seen
}

// Three against three: p is at least 0.1, although Welch's interval excludes 0.
TEST(ArmsJudgement, ADifferenceShownOnlyByWelchIsNoVerdict) {
  const PairJudgement pair = JudgePair({1, 2, 3}, {101, 102, 103}, {.scores = 3, .looks = 1});
  EXPECT_LT(pair.difference->p, 0.001);
  EXPECT_NEAR(*pair.p, 0.1, 1e-12);
  EXPECT_EQ(pair.answer, Answer::kInconclusive);
}

// One outlier: only 2 of 252 permutations are as extreme, but Welch's interval contains 0.
TEST(ArmsJudgement, IsInconclusiveIfWelchDoesNotConfirmTheDifference) {
  const PairJudgement pair = JudgePair({0, 0.1, 0.2, 0.3, 0.4}, {1, 1.1, 1.2, 1.3, 100}, {.looks = 1});
  EXPECT_TRUE(pair.told_apart);
  EXPECT_GT(pair.difference->p, 0.05);
  EXPECT_EQ(pair.answer, Answer::kInconclusive);
}

TEST(ArmsJudgement, OnlyAMarginMakesArmsEquivalent) {
  const Scores a = {100, 101, 99, 100.5, 99.5}, b = {100.2, 100.9, 99.3, 100.1, 99.8};
  EXPECT_EQ(JudgePair(a, b, {.looks = 1}).answer, Answer::kInconclusive);
  EXPECT_EQ(JudgePair(a, b, {.margin_pct = 5, .looks = 1}).answer, Answer::kEquivalent);
  EXPECT_EQ(JudgePair(a, b, {.margin_pct = 0.1, .looks = 1}).answer, Answer::kInconclusive);
}

// One of ten seeds fails in each arm: at look 1 only the permutation test shows a difference, at look 2 both do.
TEST(ArmsJudgement, LooksContinueUntilBothTestsAgree) {
  Scores a = {0, 0.1, 0.2, 0.3, 0.4}, b = {1, 1.1, 1.2, 1.3, 9};
  EXPECT_TRUE(JudgePair(a, b, {}).told_apart);
  EXPECT_FALSE(JudgePair(a, b, {}).decided);
  EXPECT_EQ(JudgePair(a, b, {}).answer, Answer::kInconclusive);
  a.insert(a.end(), {0.2, 0.1, 0, 0.4, 0.3, 0.1, 0.2, 0.3, 0, 0.4});
  b.insert(b.end(), {1.2, 1.1, 1.3, 1, 1.1, 1.3, 1.2, 1, 1.1, 1.2});
  const PairJudgement both = JudgePair(a, b, {});
  EXPECT_EQ(both.answer, Answer::kSecond);
  EXPECT_TRUE(both.decided);
  EXPECT_GT(both.looks, 1u);
}

// SciPy: each of three pairs has 5 % / 3. The margin is a share of the first arm's mean, 50.06, and its error counts: for 1 %,
// p = 0.1742 of a against b.
TEST(ArmsJudgement, EquivalenceHasTheMarginsErrorAndSharesAlpha) {
  const std::vector<ArmScores> arms = {
      {"half", {50.1, 50.3, 49.9, 50.2, 49.8}}, {"a", {100, 101, 99, 100.5, 99.5}}, {"b", {100.2, 100.9, 99.3, 100.1, 99.8}}};
  const PairJudgement pair = Judge(arms, {.margin_pct = 1, .looks = 1}).pairs.back();
  EXPECT_NEAR(pair.equivalence->p, 0.17418601236845083, 1e-9);
  EXPECT_FALSE(pair.equivalent);
  EXPECT_NEAR(Judge(arms, {.margin_pct = 5, .looks = 1}).pairs.back().equivalence->p, 0.0003582971450477943, 1e-9);
  EXPECT_TRUE(Judge(arms, {.margin_pct = 5, .looks = 1}).pairs.back().equivalent);
  EXPECT_FALSE(Judge(arms, {.margin_pct = 5, .looks = 1, .alpha = 0.001}).pairs.back().equivalent) << "a third of 0.1 %";
}

// Lehr's rule: 16 of each for one standard deviation at 80 %.
TEST(ArmsJudgement, ReportsTheSeedsThatTheObservedEffectNeeds) {
  const Scores a = {-1, 1, -1, 1, -1, 1, -1, 1}, b = {0, 2, 0, 2, 0, 2, 0, 2};
  const PairJudgement pair = JudgePair(a, b, {.scores = 8, .looks = 1});
  EXPECT_EQ(pair.answer, Answer::kInconclusive);
  ASSERT_TRUE(pair.scores_needed.has_value());
  EXPECT_NEAR(static_cast<double>(*pair.scores_needed), 16 * 8.0 / 7 + 1, 2);
}

TEST(ArmsJudgement, ArmsThatDoNotBeatDoingNothingAreNotRanked) {
  const auto judged = [](bool first, bool second) {
    return Judge({{"a", kLow, 0, first}, {"b", kHigh, 0, second}}, {}).pairs.front().answer;
  };
  EXPECT_EQ(judged(true, true), Answer::kNotRanked);
  EXPECT_EQ(judged(true, false), Answer::kSecond);
}

TEST(ArmsJudgement, WithoutASpreadTheExactTestDecides) {
  EXPECT_EQ(JudgePair({5, 5, 5, 5, 5}, {6, 6, 6, 6, 6}, {}).answer, Answer::kSecond);
  EXPECT_TRUE(JudgePair({5, 5, 5, 5, 5}, {6, 6, 6, 6, 6}, {}).decided) << "at the first look";
  EXPECT_EQ(JudgePair({5, 5, 5, 5, 5}, {6, 6, 6, 6, 6}, {.direction = -1}).answer, Answer::kFirst);
}

TEST(ArmsJudgement, ArmsOfOneValueAreDecidedAtTheSecondLook) {
  EXPECT_EQ(JudgePair(Scores(5, 500), Scores(5, 500), {}).answer, Answer::kOneValue);
  EXPECT_FALSE(JudgePair(Scores(5, 500), Scores(5, 500), {}).decided);
  EXPECT_TRUE(JudgePair(Scores(10, 500), Scores(10, 500), {}).decided);
}

TEST(ArmsJudgement, FingerprintsDecideWhetherArmsAreIdentical) {
  test_support::Fingerprinted folders;
  const auto judge = [&](const Scores& scores, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    ArmScores first{"a", scores}, second{"b", scores};
    first.runs = folders.Runs("a", a), second.runs = folders.Runs("b", b);
    return Judge({first, second}, {}).pairs.front();
  };
  const Scores solved(5, 500);
  EXPECT_EQ(judge(solved, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}).answer, Answer::kIdentical) << "a score without a spread";
  EXPECT_TRUE(judge(solved, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}).decided) << "at the first look";
  EXPECT_EQ(judge(solved, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}).answer, Answer::kOneValue);
  EXPECT_EQ(judge(kLow, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}).answer, Answer::kInconclusive) << "equal scores, different weights";
  EXPECT_FALSE(judge(kLow, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}).decided);
}

TEST(ArmsJudgement, IdenticalArmsAreDecidedAtTheFirstLook) {
  EXPECT_EQ(JudgePair(kLow, kLow, {}).answer, Answer::kIdentical);
  EXPECT_TRUE(JudgePair(kLow, kLow, {}).decided);
  EXPECT_EQ(JudgePair(kLow, {5, 4, 3, 2, 1}, {}).answer, Answer::kInconclusive);
}

TEST(ArmsJudgement, AWinnerIsWorseOnNoTask) {
  const auto judged = [](const Scores& a, const Scores& b) { return Judge({{"a", a}, {"b", b}}, {}); };
  const std::vector<ArmsJudgement> won = {judged(kLow, kHigh), judged(kLow, {2, 1, 3, 4, 5})};
  EXPECT_EQ(WinnerOf(won, 2), 1u);
  const std::vector<ArmsJudgement> each = {judged(kLow, kHigh), judged(kHigh, kLow)};
  EXPECT_EQ(WinnerOf(each, 2), std::nullopt);
}

TEST(ArmsJudgement, NoLookNoAnswer) {
  const ArmsJudgement judged = Judge({{"a", {1, 2}}, {"b", {3, 4}}}, {});
  EXPECT_EQ(judged.looks, 0u);
  EXPECT_FALSE(judged.decided);
}

TEST(ArmsJudgement, AThirdArmMakesEachPairHarder) {
  // 2 / C(10, 5) is 0.0079: below 0.05 / 5 of one pair, above 0.05 / 5 / 3 of three.
  const Scores middle = {5, 6, 7, 8, 9};
  const ArmsJudgement three = Judge({{"a", kLow}, {"b", middle}, {"c", kHigh}}, {});
  EXPECT_FALSE(three.pairs[1].told_apart);
  EXPECT_THAT(three.ranking, IsEmpty());
  EXPECT_EQ(JudgePair(kLow, kHigh, {}).told_apart, true);
}

TEST(ArmsJudgement, ARankingNeedsEveryPair) {
  const Scores top = {21, 22, 23, 24, 25};
  EXPECT_THAT(Judge({{"b", kHigh}, {"a", kLow}, {"c", top}}, {.looks = 1}).ranking, ElementsAre(2, 0, 1));
  EXPECT_THAT(Judge({{"b", kHigh}, {"a", kLow}, {"c", {12, 11, 15, 13, 14}}}, {.looks = 1}).ranking, IsEmpty());
}

TEST(ArmsJudgement, PairsOnAllTasksShareTheError) {
  // Each pair has p = 2 / C(8, 4) = 0.0286; Holm's correction gives two of them 0.057.
  const Scores low = {1, 2, 3, 4}, high = {11, 12, 13, 14}, top = {21, 22, 23, 24, 25};
  const JudgeTerms terms{.scores = 4, .looks = 1};
  EXPECT_EQ(JudgePair(low, high, terms).answer, Answer::kSecond);
  const std::vector<ArmScores> arms = {{"a", low}, {"b", high}};
  for (const ArmsJudgement& task : JudgeTasks({arms, arms}, {terms, terms})) {
    EXPECT_NEAR(*task.pairs.front().p, 2 * 2.0 / 70, 1e-12);
    EXPECT_EQ(task.pairs.front().answer, Answer::kInconclusive);
  }
  // A second task of five seeds has 2 / C(10, 5) = 0.0079 and needs a smaller share.
  const std::vector<ArmScores> of_five = {{"a", kLow}, {"b", top}};
  const std::vector<ArmsJudgement> judged = JudgeTasks({arms, of_five}, {terms, {.looks = 1}});
  EXPECT_EQ(judged[0].pairs.front().answer, Answer::kSecond);
  EXPECT_NEAR(*judged[1].pairs.front().p, 2 * 2.0 / 252, 1e-12);
}

// A machine slows down by 2 % with every run. If all of A ran first, it would look 4 % faster than B.
Scores Drifting(bool second, double factor, size_t blocks) {
  Scores out;
  for (size_t block = 0; block < blocks; ++block) {
    for (const size_t place : second ? std::vector<size_t>{1, 2} : std::vector<size_t>{0, 3}) {
      const double wobble = 1 + 0.001 * static_cast<double>((block * 7 + place * 3) % 5);
      out.push_back(1000 * factor * wobble * std::pow(0.98, static_cast<double>(4 * block + place)));
    }
  }
  return out;
}

TEST(ArmsJudgement, BlocksSeeASpeedThroughADrift) {
  const JudgeTerms terms{.speed = true, .looks = 1};
  const PairJudgement faster = JudgePair(Drifting(false, 1, 5), Drifting(true, 1.03, 5), terms);
  EXPECT_EQ(faster.answer, Answer::kSecond);
  EXPECT_NEAR(std::exp(faster.difference->value), 1.03, 0.003);
  EXPECT_EQ(faster.n, 5u);
  EXPECT_EQ(JudgePair(Drifting(false, 1, 5), Drifting(true, 1, 5), terms).answer, Answer::kInconclusive);
  EXPECT_EQ(JudgePair(Drifting(false, 1, 5), Drifting(true, 1, 5), {.speed = true, .margin_pct = 2, .looks = 1}).answer,
            Answer::kEquivalent);
}

TEST(ArmsJudgement, DisturbedBlocksAreSetAside) {
  Scores a = Drifting(false, 1, 5), b = Drifting(true, 1.03, 5);
  b[4] *= 0.3;  // in the third block
  JudgeTerms terms{.speed = true, .looks = 1};
  EXPECT_EQ(JudgePair(a, b, terms).answer, Answer::kInconclusive);
  terms.disturbed = {0, 0, 1};
  const PairJudgement without = JudgePair(a, b, terms);
  EXPECT_EQ(without.answer, Answer::kSecond);
  EXPECT_EQ(without.set_aside, 1u);
  EXPECT_EQ(without.n, 4u);
  terms.disturbed = {1, 1, 1, 1, 1};
  EXPECT_EQ(JudgePair(a, b, terms).answer, Answer::kInvalid);
}

TEST(ArmsJudgement, AMachineThatIsBusyForTwoLooksEndsThem) {
  const Scores a = Drifting(false, 1, 15), b = Drifting(true, 1.03, 15);
  JudgeTerms terms{.speed = true, .looks = 3, .disturbed = std::vector<char>(10, 1)};
  const PairJudgement busy = JudgePair(a, b, terms);
  EXPECT_EQ(busy.answer, Answer::kInvalid);
  EXPECT_TRUE(busy.decided);
  EXPECT_EQ(busy.looks, 2u);
  // A single look may be bad luck, and a single valid block is only a beginning.
  EXPECT_FALSE(JudgePair({a.begin(), a.begin() + 10}, {b.begin(), b.begin() + 10}, terms).decided);
  terms.disturbed[9] = 0;
  EXPECT_EQ(JudgePair(a, b, terms).looks, 3u);
}

TEST(ArmsJudgement, CpuTimeIsReportedWithASpeed) {
  const Scores a = Drifting(false, 1, 5), b = Drifting(true, 0.5, 5);
  const PairJudgement pair = Judge({{"a", a, 0, false, Drifting(false, 1, 5)}, {"b", b, 0, false, Drifting(true, 1.02, 5)}},
                                   {.speed = true, .looks = 1})
                                 .pairs.front();
  EXPECT_NEAR(std::exp(pair.difference->value), 0.5, 0.002);
  EXPECT_NEAR(std::exp(pair.cpu->value), 1.02, 0.003);
  EXPECT_FALSE(JudgePair(a, b, {.speed = true, .looks = 1}).cpu.has_value());
}

}  // namespace
}  // namespace backplane
