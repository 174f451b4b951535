#include "cluster/engine_needs.hpp"

#include "host/plan/sweep/sweep_fixture.hpp"

namespace backplane {
namespace {

class EngineNeedsTest : public SweepTest {};

TEST_F(EngineNeedsTest, AreTheLargestOfAllTrials) {
  const EngineNeeds needs = NeedsOf(GoodPlan(R"(
resources: {cpus: 2, memory: 1GiB, wall_time: 10m}
sweep:
  grid: {resources.cpus: [1, 3], resources.memory: [512MiB, 2GiB]}
  seeds: {n: 2}
)"));
  EXPECT_EQ(needs.cpus, 3u);
  EXPECT_EQ(needs.memory_bytes, uint64_t{2} << 30);
  EXPECT_EQ(needs.wall_time_s, 600);
  EXPECT_EQ(needs.trials, 8u);
  EXPECT_FALSE(needs.exclusive);
}

TEST_F(EngineNeedsTest, HaveNoLimitIfNoTrialHasOne) {
  const EngineNeeds needs = NeedsOf(GoodPlan("sweep: {seeds: {n: 2}}\n"));
  EXPECT_EQ(needs.cpus, 1u);
  EXPECT_EQ(needs.memory_bytes, std::nullopt);
  EXPECT_EQ(needs.wall_time_s, std::nullopt);
}

TEST_F(EngineNeedsTest, CountCoresOfRolloutWorkersAsTheyUseThem) {
  const auto needs = [this](const std::string& keys) { return NeedsOf(GoodPlan(keys)); };
  EXPECT_EQ(needs("rollout: {threads: 8}\n").worker_cpus, 0u);
  const EngineNeeds eight = needs("rollout: {workers: 3, threads: 8}\n");
  EXPECT_EQ(eight.worker_cpus, 8u) << "2, 3 and 3, not 8 each";
  EXPECT_EQ(eight.largest_worker, 3u);
  EXPECT_EQ(needs("rollout: {workers: 3}\n").worker_cpus, 3u) << "at least one each";
  EXPECT_EQ(needs("rollout: {workers: 2}\nresources: {cpus: 4}\n").largest_worker, 2u);
  EXPECT_EQ(needs("sweep: {grid: {rollout.workers: [0, 4, 2]}}\n").worker_cpus, 4u) << "of the largest trial";
}

TEST_F(EngineNeedsTest, SlotsShareADevice) {
  EngineNeeds needs;
  needs.cpus = 2;
  needs.gpus = 0.5;
  ResourcePool slots(SlotsOf(needs, 3), {.jobs = 3, .gpus = {}});
  ResourceConfig trial;
  trial.gpus = 0.5;
  for (int i = 0; i < 3; ++i) {
    const auto allocation = slots.Take(trial, /*exclusive=*/false);
    ASSERT_TRUE(allocation) << i;
    EXPECT_EQ(allocation->cores.size(), 2u) << "auto: the request of the largest trial";
    EXPECT_EQ(allocation->gpu_share, 0.5);
    EXPECT_EQ(slots.MemoryOfDevice(trial, *allocation), std::nullopt) << "of an unknown device";
  }
  EXPECT_FALSE(slots.Take(trial, /*exclusive=*/false));
}

}  // namespace
}  // namespace backplane
