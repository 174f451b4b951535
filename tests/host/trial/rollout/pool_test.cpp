#include "rollout/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "machine/cpu.hpp"
#include "rollout/clocks.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

TEST(RunnerPool, RunsEveryRunnerOncePerRound) {
  RunnerPool pool(3);
  std::atomic<int> calls[3] = {};
  for (int round = 0; round < 200; ++round)
    pool.Run(
        3, [&](unsigned i) { ++calls[i]; }, [] {});
  for (auto& n : calls) EXPECT_EQ(n, 200);
}

TEST(RunnerPool, CountsOnlyRunnersThatWork) {
  RunnerPool pool(3);
  std::atomic<int> calls[3] = {};
  for (int round = 0; round < 200; ++round)
    pool.Run(
        1 + round % 3, [&](unsigned i) { ++calls[i]; }, [] {});
  EXPECT_EQ(calls[0], 200);
  EXPECT_EQ(calls[1], 133);
  EXPECT_EQ(calls[2], 66);
  EXPECT_EQ(pool.Run(
                    1, [](unsigned) {}, [] {})
                .balance,
            1.0);
}

TEST(RunnerPool, APoolOfOneUsesTheCallersThread) {
  RunnerPool pool(1);
  std::thread::id id;
  pool.Run(
      1, [&](unsigned) { id = std::this_thread::get_id(); }, [] {});
  EXPECT_EQ(id, std::this_thread::get_id());
}

void BurnCpu(int64_t ns) {
  for (const int64_t end = ThreadCpuNs() + ns; ThreadCpuNs() < end;) {
  }
}

TEST(RunnerPool, ReportsTheBalanceOfItsRunners) {
  RunnerPool pool(2);
  const PoolUse one = pool.Run(
      2, [](unsigned i) { BurnCpu(i == 0 ? 20'000'000 : 0); }, [] {});
  EXPECT_NEAR(one.balance, 0.5, 0.05) << "one of two worked";
  EXPECT_LT(one.wall_eff, 0.55);
  const PoolUse both = pool.Run(
      2, [](unsigned) { BurnCpu(20'000'000); }, [] {});
  EXPECT_NEAR(both.balance, 1, 0.05);
}

TEST(RunnerPool, APinnedRunnerKeepsToOneCoreAndTheCallerIsFreeAfterwards) {
  const auto cores = [] {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    return CPU_COUNT(&mask);
  };
  const int before = cores();
  RunnerPool pool(GrantedCores(), /*pin=*/true);
  std::vector<int> seen(pool.threads());
  for (int round = 0; round < 3; ++round) {
    pool.Run(
        pool.threads(), [&](unsigned i) { seen[i] = cores(); }, [] {});
    EXPECT_THAT(seen, testing::Each(1));
    EXPECT_EQ(cores(), before);
  }
}

TEST(RunnerPool, RejectsPinningMoreThreadsThanCores) {
  try {
    RunnerPool pool(GrantedCores() + 1, /*pin=*/true);
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_EQ(e.status(), BP_E_CONFIG);
    EXPECT_THAT(e.what(), testing::HasSubstr("rollout.pin_threads"));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // both reserve address space
// The limit on address space represents any resource that a thread may lack; unlike the limit on processes it applies to root.
TEST(RunnerPool, ReportsHowManyThreadsStartedAndEndsThem) {
  const auto make_too_many = [] {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit =
        pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{100} << 20);  // a dozen stacks of 8 MiB
    const rlimit room{limit, limit};
    setrlimit(RLIMIT_AS, &room);
    try {
      RunnerPool pool(4096);
    } catch (const TrialFailure& e) {
      std::fprintf(stderr, "%d: %s", e.status(), e.what());
      std::exit(3);
    }
  };
  EXPECT_EXIT(make_too_many(), testing::ExitedWithCode(3),
              std::to_string(BP_E_CONFIG)
                  .append(": rollout.threads: expected 4096 threads .*got room for ([2-9]|[1-9][0-9]+): .*set it to"));
}
#endif

TEST(GrantedCores, IsAtLeastOneAndAtMostTheMachines) {
  EXPECT_GE(GrantedCores(), 1u);
  EXPECT_LE(GrantedCores(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace backplane
