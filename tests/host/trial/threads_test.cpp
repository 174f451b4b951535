#include "trial/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rollout/cores.hpp"

namespace backplane {
namespace {

TEST(TrialThreads, TakeTheNumberInTheFileForBoth) {
  RolloutConfig rollout;
  rollout.threads = 3;
  const TrialThreads threads(rollout, true);
  EXPECT_EQ(threads.all(), 3u);
  EXPECT_EQ(threads.collecting(), 3u) << "however few env runners there are";
}

TEST(TrialThreads, OfAPluginThatBearsOneThreadOnlyOneCollects) {
  RolloutConfig rollout;
  rollout.threads = 3;
  TrialThreads threads(rollout, false);
  EXPECT_EQ(threads.all(), 3u);
  EXPECT_EQ(threads.collecting(), 1u);
  EXPECT_EQ(threads.collectors().threads, 1u);
}

TEST(TrialThreads, WithoutANumberRunnersAndCoresDecide) {
  RolloutConfig rollout;
  for (const uint64_t runners : {uint64_t{1}, uint64_t{2}, uint64_t{1000}}) {
    rollout.num_env_runners = runners;
    const TrialThreads threads(rollout, true);
    EXPECT_EQ(threads.all(), GrantedCores());
    EXPECT_EQ(threads.collecting(), std::min<uint64_t>(runners, GrantedCores()));
    EXPECT_EQ(threads.clocks().size(), threads.all());
  }
}

}  // namespace
}  // namespace backplane
