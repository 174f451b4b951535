#include "kinds/gate_judge.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

TEST(GateJudge, ReportsTheNumberOfSeedsNeeded) {
  EXPECT_EQ(WhyNoChangeCanBeShown(10, 2, 0.05), "") << "1 / C(12, 2)";
  EXPECT_EQ(WhyNoChangeCanBeShown(10, 1, 0.05),
            "1 seed against 10 of the baseline can never show a change at 5 %; use 2 or more.");
  EXPECT_EQ(WhyNoChangeCanBeShown(3, 2, 0.05),
            "2 seeds against 3 of the baseline can never show a change at 5 %; use 3 or more.");
  EXPECT_EQ(WhyNoChangeCanBeShown(0, 5, 0.05), "") << "a different reason is reported";
}

TEST(GateJudge, RejectsABaselineOfOneSeed) {
  for (const size_t now : {size_t{3}, size_t{100}})
    EXPECT_THAT(WhyNoChangeCanBeShown(1, now, 0.05),
                testing::StartsWith("A baseline with 1 seed has no spread, so no change can be shown; save a baseline"));
  EXPECT_THAT(WhyNoChangeCanBeShown(1, 3, 0.05), testing::EndsWith("with 3 or more seeds.")) << "1 / C(6, 3)";
}

GateJudgement JudgeReturns(std::vector<double> before, std::vector<double> now, GateCondition condition,
                           std::optional<CompareLooks> looks) {
  GateRequest request;
  request.looks = looks;
  JudgeTerms terms;
  if (looks) terms.scores = *looks->n, terms.looks = looks->max;
  return JudgeCondition(request, condition,
                        {{Expression::OfMeasures("eval/return"), "eval/return", "", 1, 4, false, ""},
                         terms,
                         {{"baseline", std::move(before)}, {"now", std::move(now)}},
                         {},
                         {}},
                        false);
}

TEST(GateJudge, ComparesStepsToAGoalByTheLogRankTest) {
  const auto arm = [](const std::string& name, const std::vector<double>& steps) {
    ArmScores scores{name, steps};
    for (const double one : steps) scores.reached.push_back(one < 1000);
    return scores;
  };
  const MeasureSpec steps = *MeasureOfText("steps_to(eval/return, 475)");
  const auto judge = [&](const std::vector<double>& before, const std::vector<double>& now) {
    GateRequest request;
    request.looks = CompareLooks{5, 2};
    return JudgeCondition(request, {steps.title, false, 5, false},
                          {steps,
                           {.direction = -1, .scores = 5, .looks = 2, .goal = steps.StepsGoal()},
                           {arm("baseline", before), arm("now", now)},
                           {},
                           {}},
                          false);
  };
  const std::vector<double> before = {100, 101, 102, 103, 104}, slow = {300, 310, 1000, 320, 1000};
  const GateJudgement fail = judge(before, slow);
  EXPECT_THAT(fail.sentence, testing::StartsWith("FAIL: the change of steps_to(eval/return, 475) is above 5 %."));
  EXPECT_THAT(fail.sentence, testing::HasSubstr("baseline 102.0 ± 2.0 env steps, now 586 ± "));
  EXPECT_THAT(fail.sentence, testing::HasSubstr("; 2 never reached it within 1,000"));
  EXPECT_EQ(judge(slow, before).verdict, GateVerdict::kPass);
}

const GateCondition kNoLoss{"eval/return", true, 0, false};

TEST(GateJudge, AnIntervalAllowsForAllLooks) {
  // By hand: 10 +- 2.5562 in percent of 103; 2.5562 is Student's quantile at Pocock's share of five looks at 10 %, 0.0338.
  const GateJudgement pass = JudgeReturns({101, 102, 103, 104, 105}, {111, 112, 113, 114, 115}, kNoLoss, CompareLooks{5, 5});
  EXPECT_EQ(pass.sentence,
            "PASS: the change of eval/return is above 0 %. Change +9.71 % (90 % interval +7.23 % to +12.2 %): baseline 103.0 ± "
            "2.0, now "
            "113.0 ± 2.0 (± 95 %); 5 seeds each, decided at look 1 of 5: further seeds are not needed.");
}

TEST(GateJudge, SeedsNeededHaveTheirPower) {
  // By hand: 5 x (1.645 + 0.842)^2 x 1.24 / 0.2^2 = 958.3, rounded up, and one more.
  const GateJudgement undecided = JudgeReturns({101, 102, 103, 104, 105}, {101, 103, 102, 104, 106}, kNoLoss, std::nullopt);
  EXPECT_EQ(undecided.needed, 960u);
  EXPECT_THAT(undecided.sentence,
              testing::EndsWith(" If this is the true change, a gate with about 960 seeds per side decides in 80 % of cases."));
}

TEST(GateJudge, ExplainsTestsThatDisagree) {
  // SciPy's ttest_ind(equal_var=False): p = 0.3538, half of it on one side; 1 of 252 permutations is as extreme.
  const GateJudgement undecided =
      JudgeReturns({100, 100.1, 100.2, 100.3, 100.4}, {101, 101.1, 101.2, 101.3, 200}, kNoLoss, std::nullopt);
  EXPECT_EQ(undecided.verdict, GateVerdict::kUndecided);
  EXPECT_THAT(
      undecided.sentence,
      testing::HasSubstr(" The permutation test finds a change, but Welch's test does not (p = 0.18, limit 0.05). A few "
                         "extreme scores or unequal spreads can cause this; a decision needs both. If this is the "
                         "true change, a gate with about 30 seeds per side decides in 80 % of cases."));
}

// A task solved in nine of ten seeds: five solved ones in each arm have no spread, and decide nothing yet.
TEST(GateJudge, ScoresWithoutASpreadNeedAllLooks) {
  const GateCondition limit{"eval/return", true, -5, false};
  const auto judged = [&](size_t n) {
    return JudgeReturns(std::vector<double>(n, 500), std::vector<double>(n, 500), limit, CompareLooks{5, 2});
  };
  EXPECT_EQ(judged(5).verdict, GateVerdict::kUndecided);
  EXPECT_FALSE(judged(5).decided);
  EXPECT_THAT(judged(5).sentence,
              testing::EndsWith(" The scores within each side are all equal, so the gate decides only at the last look."));
  EXPECT_EQ(judged(10).verdict, GateVerdict::kPass);
}

}  // namespace
}  // namespace backplane
