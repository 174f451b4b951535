#include "batch/version_watch.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PluginFacts Told(const std::string& numpy, const std::string& path = "fast") {
  return {{"env.x", {{"version/numpy", numpy}, {"path", path}}}};
}

TEST(VersionWatch, ReportsEachVersionChangeOnce) {
  VersionWatch watch;
  EXPECT_THAT(watch.Look(Told("2.0"), "a"), IsEmpty());
  EXPECT_THAT(watch.Look(Told("2.0", "slow"), "b"), IsEmpty()) << "other facts are ignored";
  EXPECT_THAT(watch.Look(Told("2.1"), "c"),
              ElementsAre("env.x: numpy is 2.1 in c, but was 2.0 in b; this alone may change results"));
  EXPECT_THAT(watch.Look(Told("2.1"), "d"), IsEmpty());
}

TEST(VersionWatch, IgnoresPackagesOfOneTrialOnly) {
  VersionWatch watch;
  EXPECT_THAT(watch.Look(Told("2.0"), "a"), IsEmpty());
  EXPECT_THAT(watch.Look({{"env.x", {{"version/torch", "1"}}}, {"env.y", {{"version/numpy", "3"}}}}, "b"), IsEmpty());
  EXPECT_FALSE(TellsVersions({{"env.x", {{"path", "fast"}}}}));
  EXPECT_TRUE(TellsVersions(Told("2.0")));
}

}  // namespace
}  // namespace backplane
