// A learner with a replay buffer for actions in a box. Built with each such learner, whose name is the suite.
#include <gmock/gmock.h>

#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;

using Settings = std::map<std::string, std::string>;

Settings With(Settings more) {
  more.insert({{"hidden", "[8]"}, {"batch_size", "8"}, {"learning_starts", "20"}, {"horizon", "15"}});
  return more;
}

// The critics see actions in [-1, 1] whatever the env's bounds: wider ones leave training unchanged.
TEST(BACKPLANE_LEARNER, BoundsOfTheEnvChangeOnlyTheEnvsActions) {
  ReplayTrial narrow(With({}), 2, {.bound = 1}), wide(With({}), 2, {.bound = 10});
  for (ReplayTrial* each : {&narrow, &wide})
    for (int i = 0; i < 3; ++i) ASSERT_EQ(each->Iterate(), BP_OK) << each->error();
  EXPECT_EQ(narrow.stored().action, wide.stored().action);
  EXPECT_EQ(narrow.Saved(), wide.Saved());
  for (size_t i = 0; i < narrow.env_actions().size(); ++i) {
    EXPECT_NEAR(narrow.env_actions()[i], narrow.stored().action[i], 1e-6);
    EXPECT_NEAR(wide.env_actions()[i], 10 * narrow.stored().action[i], 1e-5);
  }
}

TEST(BACKPLANE_LEARNER, HugeRewardsEndTheTrial) {
  ReplayTrial trial(With({{"learning_starts", "0"}}));
  trial.reward_scale = 1e30;
  bp_status status = BP_OK;
  for (int i = 0; i < 20 && status == BP_OK; ++i) status = trial.Iterate();
  EXPECT_EQ(status, BP_E_NUMERIC);
}

}  // namespace
}  // namespace backplane
