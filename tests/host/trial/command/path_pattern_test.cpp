#include "command/path_pattern.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(PathPattern, StarsMatchWithinAName) {
  EXPECT_TRUE(MatchesPath("runs/*/events.*", "runs/a/events.1"));
  EXPECT_FALSE(MatchesPath("runs/*/events.*", "runs/a/b/events.1"));
  EXPECT_FALSE(MatchesPath("runs/*", "runs"));
  EXPECT_TRUE(MatchesPath("run?", "runs"));
  EXPECT_FALSE(MatchesPath("run?", "run"));
}

TEST(PathPattern, TwoStarsAreAnyFolders) {
  EXPECT_TRUE(MatchesPath("runs/**", "runs/a/b/events.1"));
  EXPECT_TRUE(MatchesPath("runs/**", "runs/events.1"));
  EXPECT_FALSE(MatchesPath("runs/**", "other/events.1"));
  EXPECT_TRUE(MatchesPath("**", "events.1"));
  EXPECT_TRUE(MatchesPath("**/tb/*", "a/b/tb/events.1"));
  EXPECT_TRUE(MatchesPath("**/tb/*", "tb/events.1"));
  EXPECT_FALSE(MatchesPath("**/tb/*", "a/tb/b/events.1"));
}

}  // namespace
}  // namespace backplane
