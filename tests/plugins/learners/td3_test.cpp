// Acting of learner.td3; replay_learner_test.cpp and box_learner_test.cpp have its other tests.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;

// Stored actions of a net that does not learn.
std::vector<float> Actions(const std::string& noise) {
  ReplayTrial trial({{"hidden", "[8]"},
                     {"batch_size", "8"},
                     {"learning_starts", "0"},
                     {"horizon", "400"},
                     {"lr", "1e-300"},
                     {"action_noise", noise}});
  EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
  return trial.stored().action;
}

TEST(Td3, ExploresWithGaussianNoiseWithinTheBounds) {
  const std::vector<float> calm = Actions("0"), noisy = Actions("0.1"), wild = Actions("5");
  double sum = 0, squares = 0;
  for (size_t i = 0; i < calm.size(); ++i) {
    if (std::abs(noisy[i]) == 1) continue;  // clipped
    const double d = noisy[i] - calm[i];
    sum += d, squares += d * d;
  }
  const auto n = static_cast<double>(calm.size());
  EXPECT_NEAR(sum / n, 0, .01);
  EXPECT_NEAR(std::sqrt(squares / n), .1, .01);
  for (const float a : wild) EXPECT_LE(std::abs(a), 1);
  EXPECT_GT(std::count(wild.begin(), wild.end(), 1.f), 100);
}

// The critics step each time, the actor and the targets every second time.
TEST(Td3, DelaysTheActor) {
  ReplayTrial trial(
      {{"hidden", "[8]"}, {"batch_size", "8"}, {"learning_starts", "0"}, {"horizon", "9"}, {"policy_delay", "3"}});
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  EXPECT_EQ(trial.host().metrics["train/critic_loss"].size(), 9u);
  EXPECT_EQ(trial.host().metrics["train/actor_loss"].size(), 3u);
}

}  // namespace
}  // namespace backplane
