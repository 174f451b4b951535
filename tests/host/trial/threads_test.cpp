#include "trial/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "machine/cpu.hpp"
#include "trial/recorder.hpp"

namespace backplane {
namespace {

TEST(TrialThreads, UseTheNumberInTheFileForBoth) {
  RolloutConfig rollout;
  rollout.threads = 3;
  const TrialThreads threads(rollout, {.calls = true, .steps = true});
  EXPECT_EQ(threads.all(), 3u);
  EXPECT_EQ(threads.collecting(), 3u) << "however few env runners there are";
}

TEST(TrialThreads, CollectOnOneThreadForAPluginOfOneThread) {
  RolloutConfig rollout;
  rollout.threads = 3;
  TrialThreads threads(rollout, {.calls = false, .steps = false});
  EXPECT_EQ(threads.all(), 3u);
  EXPECT_EQ(threads.collecting(), 1u);
  EXPECT_EQ(threads.stepping(), 1u);
  EXPECT_EQ(threads.collectors().threads, 1u);
}

TEST(TrialThreads, StepOnAllThreadsIfOnlyTheLearnerNeedsOne) {
  RolloutConfig rollout;
  rollout.threads = 3;
  TrialThreads threads(rollout, {.calls = false, .steps = true});
  EXPECT_EQ(threads.collecting(), 1u);
  EXPECT_EQ(threads.stepping(), 3u);
  EXPECT_EQ(threads.callers().threads, 1u);
}

TEST(TrialThreads, DefaultToRunnersAndCores) {
  RolloutConfig rollout;
  for (const uint64_t runners : {uint64_t{1}, uint64_t{2}, uint64_t{1000}}) {
    rollout.num_env_runners = runners;
    const TrialThreads threads(rollout, {.calls = true, .steps = true});
    EXPECT_EQ(threads.all(), GrantedCores());
    EXPECT_EQ(threads.collecting(), std::min<uint64_t>(runners, GrantedCores()));
    EXPECT_EQ(threads.clocks().size(), threads.all());
  }
}

TEST(TrialThreads, SharedPhaseCountsAllThreadsInTheTable) {
  RolloutConfig rollout;
  rollout.threads = 2;
  TrialThreads threads(rollout, {.calls = false, .steps = false});
  const int64_t start = NowNs();
  {
    const PhaseSpan span(threads.clocks()[0], Phase::kUpdateBackward);
    std::atomic<int> arrived{0};
    const auto wait_for_both = [](void* context, uint64_t) {
      auto& here = *static_cast<std::atomic<int>*>(context);
      for (++here; here < 2;) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    threads.parallel().Run(2, wait_for_both, &arrived);
  }
  const nlohmann::json table = ToJson(PhaseTable(threads.clocks(), NowNs() - start));
  double sum = table["unnamed_share"], update_s = 0;
  for (const auto& row : table["phases"]) {
    sum += row["share"].get<double>();
    if (row["name"] == "update_backward") update_s = row["seconds"];
  }
  EXPECT_GE(update_s, 0.040) << "20 ms of each thread";
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

}  // namespace
}  // namespace backplane
