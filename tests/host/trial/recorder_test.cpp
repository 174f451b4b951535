#include "trial/recorder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "support/file_size_limit.hpp"

namespace backplane {
namespace {

TEST(Summarise, CarriesSampleSizeAndSpread) {
  EXPECT_EQ(ToJson(Summarise({1, 3, 5, 7})),
            nlohmann::json({{"mean", 4.0}, {"sd", std::sqrt(20.0 / 3)}, {"se", std::sqrt(5.0 / 3)}, {"n", 4}}));
  EXPECT_TRUE(ToJson(Summarise({5}))["se"].is_null());
  EXPECT_TRUE(ToJson(Summarise({5}))["sd"].is_null());
  EXPECT_TRUE(ToJson(Summarise({}))["mean"].is_null());
}

TEST(EpisodeWindow, HoldsTheLastHundred) {
  EpisodeWindow window;
  for (int i = 0; i < 150; ++i) window.Add({Episode{0, 0, static_cast<double>(i), 1, nullptr}}, {});
  EXPECT_EQ(window.total(), 150u);
  EXPECT_EQ(window.Returns().n, 100u);
  EXPECT_EQ(window.mean_return(), 99.5);
}

TEST(EpisodeWindow, LoadsItsSavedState) {
  const double info[] = {2.5};
  EpisodeWindow window, copy;
  window.Add({Episode{0, 0, 3, 7, info}}, {"ep/x"});
  copy.Load(window.Save(), 1);
  EXPECT_EQ(copy.total(), 1u);
  EXPECT_EQ(ToJson(copy.Returns()), ToJson(window.Returns()));
  EXPECT_EQ(copy.Metrics().at("ep/x").mean, 2.5);
}

class MetricsFileTest : public testing::Test {
 protected:
  MetricsFileTest() { std::filesystem::remove_all(dir_), std::filesystem::create_directories(dir_); }
  ~MetricsFileTest() override { std::filesystem::remove_all(dir_); }
  std::string Text() const { return ReadFile(file_).value_or("none"); }

  const std::filesystem::path dir_ = std::filesystem::path(testing::TempDir()) / ("metrics_" + std::to_string(getpid()));
  const std::filesystem::path file_ = dir_ / "metrics.jsonl";
};

// A line without times.
Iteration Line(uint64_t number) {
  Iteration line;
  line.iteration = number;
  return line;
}

TEST_F(MetricsFileTest, WritesANameThatIsNotUtf8) {
  Iteration line;
  line.metrics["ep/gr\xf6\xdf"] = 1;
  MetricsFile(file_, 1).Append(line);
  EXPECT_EQ(nlohmann::json::parse(Text())["metrics"]["ep/gr\uFFFD\uFFFD"], 1);
}

TEST_F(MetricsFileTest, CountsAndChecksumsOldAndNewLines) {
  std::ofstream(file_) << "{}\n";
  MetricsFile file(file_, 3);
  file.Append(Line(1));
  EXPECT_EQ(Text(), "{}\n{\"iteration\":1,\"time\":{}}\n");
  EXPECT_EQ(file.written().attempt, 3u);
  EXPECT_EQ(file.written().lines, 2u);
  EXPECT_EQ(file.written().bytes, 29u);
  EXPECT_EQ(file.written().crc32c, 0x48B8E71Au) << "computed by a different program over the whole file";
}

TEST_F(MetricsFileTest, LineThatDoesNotFitIsAnErrorAndDoesNotCount) {
  MetricsFile file(file_, 1);
  file.Append(Line(1));
  const MetricsPart before = file.written();
  const FileSizeLimit limit(30);
  EXPECT_THROW(file.Append(Line(2)), std::runtime_error);
  EXPECT_EQ(file.written().lines, 1u);
  EXPECT_EQ(file.written().crc32c, before.crc32c);
  EXPECT_EQ(Text(), "{\"iteration\":1,\"time\":{}}\n");
}

TEST(PhaseTable, SharesSumToOneWithIdleAndUnnamedTime) {
  std::vector<PhaseClock> clocks(3);
  const int64_t start = NowNs();
  for (PhaseClock& clock : clocks) {
    clock.Start(Phase::kEnvStep);
    while (NowNs() - start < 2'000'000) {
    }
    clock.Switch(Phase::kInfer);
    clock.Stop();
  }
  const nlohmann::json table = ToJson(PhaseTable(clocks, NowNs() - start));
  double sum = table["unnamed_share"];
  for (const auto& row : table["phases"]) {
    EXPECT_GE(row["share"], 0);
    sum += row["share"].get<double>();
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST(PhaseSpan, ANestedPhaseStopsItsParentsClock) {
  PhaseClock clock;
  const int64_t start = NowNs();
  {
    const PhaseSpan outer(clock, Phase::kSync);
    const PhaseSpan inner(clock, Phase::kEval);
    const int64_t parents_ns = clock.ns(Phase::kSync), end = NowNs() + 1'000'000;
    while (NowNs() < end) {
    }
    EXPECT_EQ(parents_ns, clock.ns(Phase::kSync));
  }
  EXPECT_LE(clock.total_ns(), NowNs() - start);
  EXPECT_GE(clock.ns(Phase::kEval), 1'000'000);
  EXPECT_EQ(clock.total_ns(), clock.ns(Phase::kEval) + clock.ns(Phase::kSync));
  EXPECT_FALSE(clock.running());
}

}  // namespace
}  // namespace backplane
