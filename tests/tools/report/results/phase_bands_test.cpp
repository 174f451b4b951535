#include "results/phase_bands.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace backplane {
namespace {

constexpr double kExact = 1e-9;

TEST(PhaseBands, ALineIsAStretchFromTheEndOfTheOneBefore) {
  PhaseBands bands;
  bands.Add(2, {{"env_step", 1}, {"idle", 3}});
  bands.Add(2.5, {{"infer", 1}});
  ASSERT_EQ(2u, bands.stretches().size());
  EXPECT_EQ(0, bands.stretches()[0].begin_s);
  EXPECT_EQ(2, bands.stretches()[1].begin_s);
  EXPECT_EQ(2.5, bands.stretches()[1].end_s);
  EXPECT_NEAR(0.25, bands.stretches()[0].ShareOf(Phase::kEnvStep), kExact);
  EXPECT_NEAR(1, bands.stretches()[1].ShareOf(Phase::kInfer), kExact);
}

TEST(PhaseBands, SumsStayTheSameForAnyLength) {
  for (const size_t length : {39, 40, 41, 79, 80, 81, 1000, 12'345}) {
    PhaseBands bands;
    for (size_t i = 1; i <= length; ++i)
      bands.Add(static_cast<double>(i), {{"env_step", static_cast<double>(i % 7)}, {"idle", 1}});
    EXPECT_LE(bands.stretches().size(), PhaseBands::kMost) << length;
    EXPECT_GE(bands.stretches().size(), std::min(length, PhaseBands::kMost / 2)) << length;
    double env = 0, idle = 0, end = 0;
    for (const PhaseBands::Stretch& stretch : bands.stretches()) {
      EXPECT_EQ(end, stretch.begin_s) << length;
      end = stretch.end_s;
      env += stretch.seconds[static_cast<size_t>(Phase::kEnvStep)];
      idle += stretch.seconds[static_cast<size_t>(Phase::kIdle)];
    }
    double wanted = 0;
    for (size_t i = 1; i <= length; ++i) wanted += static_cast<double>(i % 7);
    EXPECT_NEAR(wanted, env, 1e-6) << length;
    EXPECT_NEAR(static_cast<double>(length), idle, 1e-6) << length;
    EXPECT_EQ(static_cast<double>(length), end);
  }
}

TEST(PhaseBands, AResumedTrialReplacesRepeatedStretches) {
  PhaseBands bands;
  for (const double end : {1.0, 2.0, 3.0}) bands.Add(end, {{"env_step", 1}});
  bands.Add(1.5, {{"infer", 1}});
  ASSERT_EQ(2u, bands.stretches().size());
  EXPECT_EQ(1, bands.stretches()[1].begin_s);
  EXPECT_NEAR(1, bands.stretches()[1].ShareOf(Phase::kInfer), kExact);
  bands.Add(0.5, {{"eval", 1}});  // from scratch
  ASSERT_EQ(1u, bands.stretches().size());
  EXPECT_EQ(0, bands.stretches()[0].begin_s);
}

TEST(PhaseBands, UnknownPhasesAndThoseWithoutTimeAreNotSeen) {
  PhaseBands bands;
  bands.Add(1, {{"unheard_of", 7}});
  EXPECT_TRUE(bands.stretches().empty());
  bands.Add(2, {{"env_step", 1}, {"monitor", 0.004}, {"sync", 0.006}, {"infer", std::numeric_limits<double>::infinity()}});
  const auto seen = bands.Seen();
  EXPECT_TRUE(seen[static_cast<size_t>(Phase::kEnvStep)]);
  EXPECT_TRUE(seen[static_cast<size_t>(Phase::kSync)]);
  EXPECT_FALSE(seen[static_cast<size_t>(Phase::kMonitor)]) << "less than one part in 200";
  EXPECT_FALSE(seen[static_cast<size_t>(Phase::kInfer)]) << "not finite";
}

TEST(PhaseBands, AreReadFromAllAttempts) {
  const TrialFolder folder{std::filesystem::path(testing::TempDir()) / ("phase_bands_" + std::to_string(getpid()))};
  for (const unsigned attempt : {1, 2}) {
    std::filesystem::create_directories(folder.attempt(attempt).folder);
    std::ofstream(folder.attempt(attempt).metrics())
        << "{\"iteration\":" << attempt << ",\"time\":{\"t\":" << attempt << ",\"phases\":{\"eval\":0.5}}}\n";
  }
  EXPECT_EQ(2u, ReadPhaseBands(folder).stretches().size());
  std::filesystem::remove_all(folder.folder);
}

}  // namespace
}  // namespace backplane
