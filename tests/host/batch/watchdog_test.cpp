#include "batch/watchdog.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

Watchdog With(double hang_timeout_s, std::optional<double> wall_time_s = std::nullopt) {
  ResourceConfig limits;
  limits.hang_timeout_s = hang_timeout_s;
  limits.wall_time_s = wall_time_s;
  return Watchdog(limits);
}

std::optional<StatusFile> Beat(uint64_t heartbeat, double own_s = 0) {
  StatusFile status{};
  status.heartbeat = heartbeat;
  status.own_s = own_s;
  return status;
}

TEST(Watchdog, RequestsStacksOfASilentTrialThenKillsIt) {
  Watchdog watchdog = With(10);
  EXPECT_EQ(watchdog.Look(Beat(1), 5), std::nullopt);
  EXPECT_EQ(watchdog.Look(Beat(1), 15), std::nullopt) << "ten seconds are allowed";
  EXPECT_EQ(watchdog.Look(Beat(1), 15.5), StopHow::kWhere);
  EXPECT_EQ(watchdog.Look(Beat(2), 15.9), std::nullopt) << "its threads write their stacks";
  EXPECT_EQ(watchdog.Look(Beat(3), 16.1), StopHow::kKill) << "even with new signs of life";
  EXPECT_EQ(watchdog.stop(), StopReason::kHang);
}

TEST(Watchdog, CountsASignOfLifeFromItsReading) {
  Watchdog watchdog = With(10);
  for (uint64_t beat = 0; beat < 5; ++beat) EXPECT_EQ(watchdog.Look(Beat(beat), 9 * static_cast<double>(beat)), std::nullopt);
  EXPECT_EQ(watchdog.Look(std::nullopt, 46.5), StopHow::kWhere);
}

TEST(Watchdog, IgnoresTimeOfAStoppedTrial) {
  Watchdog watchdog = With(10, 20);
  EXPECT_EQ(watchdog.Look(Beat(1, 5), 5), std::nullopt);
  EXPECT_EQ(watchdog.Look(Beat(1, 6), 1000), std::nullopt);
}

TEST(Watchdog, StopsATrialOutOfTimeOnceAndStillDetectsAHang) {
  Watchdog watchdog = With(10, 4);
  EXPECT_EQ(watchdog.Look(Beat(1), 4), std::nullopt);
  EXPECT_EQ(watchdog.Look(Beat(2), 5), StopHow::kAsk);
  EXPECT_EQ(watchdog.Look(Beat(3), 6), std::nullopt);
  EXPECT_EQ(watchdog.stop(), StopReason::kWallTime);
  EXPECT_EQ(watchdog.Look(Beat(3), 17), StopHow::kWhere);
  EXPECT_EQ(watchdog.stop(), StopReason::kHang);
}

TEST(Watchdog, AnInterruptedTrialHasNoTimeToUseUp) {
  Watchdog watchdog = With(10, 4);
  watchdog.Interrupted();
  EXPECT_EQ(watchdog.Look(Beat(1), 5), std::nullopt);
  EXPECT_EQ(watchdog.stop(), StopReason::kInterrupt);
}

}  // namespace
}  // namespace backplane
