#include "trial/recorder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

TEST(Summarise, CarriesSampleSizeAndSpread) {
  EXPECT_EQ(Summarise({1, 3, 5, 7}),
            nlohmann::json({{"mean", 4.0}, {"sd", std::sqrt(20.0 / 3)}, {"se", std::sqrt(5.0 / 3)}, {"n", 4}}));
  EXPECT_TRUE(Summarise({5})["se"].is_null());
  EXPECT_TRUE(Summarise({5})["sd"].is_null());
  EXPECT_TRUE(Summarise({})["mean"].is_null());
}

TEST(EpisodeWindow, HoldsTheLastHundred) {
  EpisodeWindow window;
  for (int i = 0; i < 150; ++i) window.Add({Episode{0, 0, static_cast<double>(i), 1, nullptr}}, {});
  EXPECT_EQ(window.total(), 150u);
  EXPECT_EQ(window.Returns()["n"], 100);
  EXPECT_EQ(window.mean_return(), 99.5);
}

TEST(EpisodeWindow, ComesBackFromJson) {
  const double info[] = {2.5};
  EpisodeWindow window, copy;
  window.Add({Episode{0, 0, 3, 7, info}}, {"ep/x"});
  copy.Load(window.Save());
  EXPECT_EQ(copy.Save(), window.Save());
  EXPECT_EQ(copy.Metrics()["ep/x"]["mean"], 2.5);
}

TEST(MetricsFile, WritesANameThatIsNotUtf8) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "metrics_not_utf8.jsonl";
  std::filesystem::remove(file);
  MetricsFile(file).Append({{"metrics", {{"ep/gr\xf6\xdf", 1}}}});
  std::ifstream in(file);
  EXPECT_EQ(nlohmann::json::parse(in)["metrics"]["ep/gr\uFFFD\uFFFD"], 1);
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
  const nlohmann::json table = PhaseTable(clocks, NowNs() - start);
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
