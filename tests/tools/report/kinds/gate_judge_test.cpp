#include "kinds/gate_judge.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

TEST(GateJudge, SaysHowManySeedsAreWanted) {
  EXPECT_EQ(WhyNoChangeCanBeShown(10, 2, 0.05), "") << "1 / C(12, 2)";
  EXPECT_EQ(WhyNoChangeCanBeShown(10, 1, 0.05),
            "1 seed against 10 of the baseline can never show a change at 5 %; wanted 2 or more.");
  EXPECT_EQ(WhyNoChangeCanBeShown(3, 2, 0.05),
            "2 seeds against 3 of the baseline can never show a change at 5 %; wanted 3 or more.");
  EXPECT_EQ(WhyNoChangeCanBeShown(0, 5, 0.05), "") << "another reason is told";
}

TEST(GateJudge, ABaselineOfOneSeedHasNoSpreadHoweverManyStandAgainstIt) {
  for (const size_t now : {size_t{3}, size_t{100}})
    EXPECT_THAT(WhyNoChangeCanBeShown(1, now, 0.05),
                testing::StartsWith("A baseline of 1 seed has no spread, against which no change can be shown; save it anew"));
  EXPECT_THAT(WhyNoChangeCanBeShown(1, 3, 0.05), testing::EndsWith("with 3 or more.")) << "1 / C(6, 3)";
}

}  // namespace
}  // namespace backplane
