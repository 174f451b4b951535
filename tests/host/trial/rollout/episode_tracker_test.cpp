#include "rollout/episode_tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "rollout/rows.hpp"
#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

using testing::ElementsAre;

// Ten rows of an env, more than one SIMD step handles.
class AnEpisodeTracker : public testing::Test {
 protected:
  static constexpr uint64_t kRows = 10;
  explicit AnEpisodeTracker(bool env_cuts = false)
      : trial((g_switches.owns_time_limit = env_cuts, kRows), 1), tracker(*trial.env) {
    g_switches.owns_time_limit = false;
  }
  // Steps all rows with this reward.
  EpisodeTracker::Seen Add(float reward_of_each) {
    reward.assign(kRows, reward_of_each);
    return tracker.Add(rows.data(), kRows, Step());
  }
  EpisodeTracker::Step Step() {
    return {reward.data(), terminated.data(), tracker.env_cuts() ? cut.data() : nullptr, truncated.data()};
  }
  std::vector<uint64_t> Ends() {
    std::vector<uint64_t> ends;
    EpisodeTracker::ForEachEnd(Step(), kRows, [&](uint64_t row) { ends.push_back(row); });
    return ends;
  }

  ToyTrial trial;
  EpisodeTracker tracker;
  std::vector<RowState> rows = std::vector<RowState>(kRows);
  std::vector<float> reward;
  std::vector<uint8_t> terminated = std::vector<uint8_t>(kRows), cut = terminated, truncated = terminated;
};
class OfAnEnvThatCuts : public AnEpisodeTracker {
 protected:
  OfAnEnvThatCuts() : AnEpisodeTracker(true) {}
};

TEST_F(AnEpisodeTracker, AddsUpRewardsAndStepsToTheEnvsTimeLimit) {
  for (int64_t step = 1; step < kTimeLimit; ++step) ASSERT_EQ(Add(0.5f).flags, 0u) << step;
  EXPECT_EQ(Add(0.5f).flags, 1u);
  EXPECT_EQ(rows[9].episode_length, kTimeLimit);
  EXPECT_EQ(rows[9].episode_return, 10.0);
  EXPECT_EQ(Ends().size(), kRows);
  EXPECT_THAT(truncated, testing::Each(1));
}

TEST_F(AnEpisodeTracker, SumsTheRewardsOfAllAgents) {
  reward = {1, 2, 3, 10, 20, 30};
  EpisodeTracker::Step step = Step();
  step.rewards_per_row = 3;
  tracker.Add(rows.data(), 2, step);
  EXPECT_EQ(rows[0].episode_return, 6);
  EXPECT_EQ(rows[1].episode_return, 60);
  EXPECT_EQ(rows[2].episode_length, 0);
}

TEST_F(AnEpisodeTracker, VisitsTheRowsThatEndedInTheirOrder) {
  terminated[9] = terminated[1] = 1;
  rows[7].episode_length = kTimeLimit - 1;
  EXPECT_EQ(Add(1).flags, 1u);
  EXPECT_THAT(Ends(), ElementsAre(1, 7, 9));
}

TEST_F(AnEpisodeTracker, DetectsNonFiniteRewardsAndInvalidFlags) {
  EXPECT_FALSE(Add(1).not_finite);
  EXPECT_TRUE(Add(std::numeric_limits<float>::infinity()).not_finite);
  terminated[3] = 4;
  EXPECT_EQ(Add(1).flags, 4u);
  tracker.CheckFlags(2, terminated[2], 0, "now");
  EXPECT_THROW(tracker.CheckFlags(3, terminated[3], 0, "now"), TrialFailure);
}

TEST_F(OfAnEnvThatCuts, TrustsTheEnvForAnyLength) {
  reward.assign(kRows, 1);
  const EpisodeTracker::Step step{reward.data(), terminated.data(), cut.data(), cut.data()};
  for (int64_t t = 0; t < 2 * kTimeLimit; ++t) ASSERT_EQ(tracker.Add(rows.data(), kRows, step).flags, 0u);
  cut[4] = 1;
  EXPECT_EQ(tracker.Add(rows.data(), kRows, step).flags, 1u);
  EXPECT_EQ(rows[4].episode_length, 2 * kTimeLimit + 1);
}

TEST_F(OfAnEnvThatCuts, MayBeCutEarlierByTheHost) {
  tracker.set_limit(2);
  cut[4] = 1;
  Add(1);
  EXPECT_THAT(Ends(), ElementsAre(4));
  Add(1);
  EXPECT_EQ(Ends().size(), kRows);
  EXPECT_THAT(cut, ElementsAre(0, 0, 0, 0, 1, 0, 0, 0, 0, 0)) << "the env's own channel stays as it is";
}

}  // namespace
}  // namespace backplane::toy
