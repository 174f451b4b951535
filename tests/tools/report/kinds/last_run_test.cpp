#include "kinds/last_run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using namespace test_support;

ResultSet ResultOf(double sps, double half, double earned) {
  ResultSet set;
  set.out = "outputs/walk";
  set.experiment = "walk";
  TrialData trial = Trial(1, 1, sps);
  trial.measures["SPS"] = test_support::Spread(sps, half, 20, "iterations");
  trial.measures["return"] = test_support::Spread(earned, 5, 20, "episodes");
  set.trials = {trial};
  return set;
}

std::string VerdictOf(const AgainstLastRun& against, const std::string& measure) {
  for (const auto& row : std::get<Table>(against.section.blocks.at(0)).rows)
    if (std::get<std::string>(row[0]).starts_with(measure)) return std::get<std::string>(row[2]);
  return "no row";
}

TEST(LastRun, AValueWithinItsIntervalIsNoChange) {
  const auto against = CompareWithLastRun(ResultOf(1200, 40, 101), ResultOf(1000, 40, 100));
  ASSERT_TRUE(against);
  EXPECT_EQ("more", VerdictOf(*against, "steps per second"));
  EXPECT_EQ("within noise", VerdictOf(*against, "return"));
  EXPECT_EQ("the same", VerdictOf(*against, "peak memory"));
  EXPECT_TRUE(against->sentence.find("steps per second") != std::string::npos) << against->sentence;
  EXPECT_TRUE(against->sentence.find("one run each") != std::string::npos) << against->sentence;
  EXPECT_EQ("within noise",
            VerdictOf(*CompareWithLastRun(ResultOf(1010, 40, 100), ResultOf(1000, 40, 100)), "steps per second"));
  EXPECT_EQ("less", VerdictOf(*CompareWithLastRun(ResultOf(800, 40, 100), ResultOf(1000, 40, 100)), "steps per second"));
}

TEST(LastRun, ReturnsBelowZeroAreComparedByTheirDifference) {
  EXPECT_EQ("more", VerdictOf(*CompareWithLastRun(ResultOf(1000, 40, -100), ResultOf(1000, 40, -120)), "return"));
  EXPECT_EQ("within noise", VerdictOf(*CompareWithLastRun(ResultOf(1000, 40, -115), ResultOf(1000, 40, -120)), "return"));
}

TEST(LastRun, ReturnsAroundZeroAreComparedByTheirDifference) {
  // Over episodes 100 +- 5 and 3 +- 5: the last run's interval contains zero. Half its width is sqrt(5^2 + 5^2) = 7.1.
  const auto around = CompareWithLastRun(ResultOf(1000, 40, 100), ResultOf(1000, 40, 3));
  EXPECT_NE(std::string::npos, around->sentence.find("return of runners=1 envs=1 +97.0 ± 7.1, one run each"))
      << around->sentence;
  const auto above = CompareWithLastRun(ResultOf(1000, 40, 100), ResultOf(1000, 40, 50));
  EXPECT_NE(std::string::npos, above->sentence.find("return of runners=1 envs=1 +100")) << above->sentence;
  EXPECT_NE(std::string::npos, above->sentence.find(" %")) << above->sentence;
}

TEST(LastRun, IgnoresADifferentExperiment) {
  ResultSet other = ResultOf(1000, 40, 100);
  other.experiment = "swim";
  EXPECT_FALSE(CompareWithLastRun(ResultOf(1000, 40, 100), other));
}

TEST(LastRun, IsTheNewestThatFreshLeft) {
  const ScratchFolder root;
  ResultSet set;
  set.out = root.path() / "walk";
  EXPECT_FALSE(LastRunOf(set));
  for (const char* name : {"walk", "walk.2", "walk.10", "walk.11x", "walker.20"}) {
    std::filesystem::create_directories(root.path() / name);
    WriteFileAtomic(root.path() / name / "plan.jsonl", "");
  }
  std::filesystem::create_directories(root.path() / "walk.30");  // no results
  EXPECT_EQ(root.path() / "walk.10", LastRunOf(set));
}

}  // namespace
}  // namespace backplane
