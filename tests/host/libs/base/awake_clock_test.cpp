#include "base/awake_clock.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

using namespace std::chrono_literals;

TEST(AwakeClock, AddsTimeBetweenLooks) {
  const AwakeClock::Clock::time_point start{};
  AwakeClock clock(1, start);
  EXPECT_DOUBLE_EQ(0.5, clock.Look(true, start + 500ms));
  EXPECT_DOUBLE_EQ(1.25, clock.Look(true, start + 1250ms));
  EXPECT_DOUBLE_EQ(1.25, clock.seconds());
}

TEST(AwakeClock, CountsLongGapOnlyUpToItsBound) {
  const AwakeClock::Clock::time_point start{};
  AwakeClock clock(1, start);
  EXPECT_DOUBLE_EQ(1, clock.Look(true, start + 1h)) << "the process was stopped for an hour";
  EXPECT_DOUBLE_EQ(1.5, clock.Look(true, start + 1h + 500ms));
}

TEST(AwakeClock, LeavesOutTimeThatDoesNotCount) {
  const AwakeClock::Clock::time_point start{};
  AwakeClock clock(1, start);
  EXPECT_DOUBLE_EQ(0, clock.Look(false, start + 900ms));
  EXPECT_DOUBLE_EQ(0.25, clock.Look(true, start + 1150ms));
}

}  // namespace
}  // namespace backplane
