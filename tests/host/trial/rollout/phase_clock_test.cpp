#include "rollout/phase_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace backplane {
namespace {

constexpr int64_t kOneMs = 1'000'000;

PhaseSums Sums(int64_t env_step_ns, int64_t infer_ns) {
  PhaseSums sums;
  sums.ns[static_cast<size_t>(Phase::kEnvStep)] = sums.cpu_wall_ns[static_cast<size_t>(Phase::kEnvStep)] = env_step_ns;
  sums.cpu_ns[static_cast<size_t>(Phase::kEnvStep)] = env_step_ns / 2;
  sums.ns[static_cast<size_t>(Phase::kInfer)] = infer_ns;
  return sums;
}

TEST(PhaseClock, SplitsTimeInProportionToOtherClocks) {
  PhaseClock clock;
  clock.TakeOver(Sums(30 * kOneMs, 10 * kOneMs), 8 * kOneMs, false);
  EXPECT_EQ(clock.ns(Phase::kEnvStep), 6 * kOneMs);
  EXPECT_EQ(clock.ns(Phase::kInfer), 2 * kOneMs);
  EXPECT_EQ(clock.total_ns(), 8 * kOneMs);
  EXPECT_EQ(clock.cpu_wall_ns(Phase::kEnvStep), 6 * kOneMs);
  EXPECT_EQ(clock.cpu_ns(Phase::kEnvStep), 3 * kOneMs);
  EXPECT_EQ(clock.cpu_wall_ns(Phase::kInfer), 0) << "not measured";
}

TEST(PhaseClock, ReplacesItsOwnIdleTime) {
  PhaseClock clock;
  clock.Start(Phase::kIdle);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  clock.Switch(Phase::kSync);
  const int64_t waited_ns = clock.ns(Phase::kIdle), total_ns = clock.total_ns();
  ASSERT_GE(waited_ns, 2 * kOneMs);
  clock.TakeOver(Sums(1, 1), waited_ns, true);
  EXPECT_EQ(clock.ns(Phase::kIdle), 0);
  EXPECT_NEAR(static_cast<double>(clock.ns(Phase::kEnvStep)), static_cast<double>(waited_ns) / 2, 1);
  EXPECT_NEAR(static_cast<double>(clock.total_ns()), static_cast<double>(total_ns), 2);
}

TEST(PhaseClock, IgnoresClocksWithoutTime) {
  PhaseClock clock;
  clock.TakeOver({}, kOneMs, false);
  EXPECT_EQ(clock.total_ns(), 0);
}

}  // namespace
}  // namespace backplane
