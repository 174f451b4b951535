// Options, batch sizes and the learning rate.
#include "options.hpp"

#include <gmock/gmock.h>

#include "schedule.hpp"

namespace backplane::seq2seq {
namespace {

TEST(LrFactor, FollowsTheSchedulesOfTransformers) {
  // get_linear_schedule_with_warmup(4, 20), get_cosine_schedule_with_warmup(4, 20), at updates 0, 1, 4, 12, 19.
  const uint64_t at[] = {0, 1, 4, 12, 19};
  const double linear[] = {0, .25, 1, .5, .0625}, cosine[] = {0, .25, 1, .5, 0.009607359798384785};
  for (int i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(LrFactor(Schedule::kLinear, at[i], 4, 20, 0), linear[i]);
    EXPECT_NEAR(LrFactor(Schedule::kCosine, at[i], 4, 20, 0), cosine[i], 1e-12);
    EXPECT_EQ(LrFactor(Schedule::kConstant, at[i], 4, 20, 0), 1);
    EXPECT_DOUBLE_EQ(LrFactor(Schedule::kConstantWithWarmup, at[i], 4, 20, 0), i < 2 ? linear[i] : 1);
  }
}

TEST(LrFactor, FollowsTheBudgetsProgressIfTheNumberOfUpdatesIsUnknown) {
  EXPECT_DOUBLE_EQ(LrFactor(Schedule::kLinear, 100, 4, 0, .25), .75);
  EXPECT_DOUBLE_EQ(LrFactor(Schedule::kLinear, 2, 4, 0, .25), .5);
  EXPECT_EQ(LrFactor(Schedule::kLinear, 30, 4, 20, 0), 0);
}

TEST(WarmupUpdates, AreACountOrAShareOfAll) {
  EXPECT_EQ(WarmupUpdates(0, 20), 0u);
  EXPECT_EQ(WarmupUpdates(.06, 100), 6u);
  EXPECT_EQ(WarmupUpdates(.061, 100), 7u);
  EXPECT_EQ(WarmupUpdates(30, 20), 30u);
}

}  // namespace
}  // namespace backplane::seq2seq
