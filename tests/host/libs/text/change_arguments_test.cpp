#include "text/change_arguments.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(TryFolder, IsNextToTheResults) {
  EXPECT_EQ("outputs/x_try", TryFolder("outputs/x"));
  EXPECT_EQ("outputs/x_try", TryFolder("./outputs/x/"));
}

TEST(ChangeArguments, SetAValueAndExtendTheAxisOfASweptOne) {
  const Fix set{"rollout.threads", 9, 2};
  EXPECT_EQ("rollout.threads: 9 -> 2", ChangeText(set));
  EXPECT_EQ("--set rollout.threads=2", ChangeArgument(set));
  const Fix swept{"rollout.threads", 9, 2, true};
  EXPECT_EQ("rollout.threads: 9 -> 2, in sweep", ChangeText(swept));
  EXPECT_EQ("--sweep rollout.threads=9,2", ChangeArgument(swept));
  const Fix of_a_point{"learner.options.epochs", nlohmann::json(), 2, true, "slow one", {{"learner.options.parts", 8}}};
  EXPECT_EQ("learner.options.epochs: not set -> 2, learner.options.parts: 8, in sweep of slow one", ChangeText(of_a_point));
  EXPECT_EQ("--sweep 'slow one:learner.options.epochs=2' --set learner.options.parts=8", ChangeArgument(of_a_point));
}

TEST(ChangeArguments, ReplaceEarlierValuesOfThePath) {
  const Fix fix{"rollout.threads", 9, 2, true, "slow", {{"learner.options.parts", 8}}};
  EXPECT_TRUE(GivesWay(fix, "rollout.threads=4"));
  EXPECT_TRUE(GivesWay(fix, "+learner.options.parts=1"));
  EXPECT_TRUE(GivesWay(fix, "slow:rollout.threads=4"));
  EXPECT_FALSE(GivesWay(fix, "fast:rollout.threads=4"));
  EXPECT_FALSE(GivesWay(fix, "rollout.threads_more=4"));
}

}  // namespace
}  // namespace backplane
