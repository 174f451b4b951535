#include "results/parallel_efficiency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trials.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ParallelEfficiency Analyse(std::vector<TrialData> trials, const json& baseline = nullptr) {
  return AnalyseParallelEfficiency(Combine({MakeSet(std::move(trials))}), baseline);
}

struct GoldenRow {
  uint64_t parallelism;
  double sps, speedup, efficiency_pct;
  const char* band;
};

class Golden : public testing::TestWithParam<GoldenRow> {};

TEST_P(Golden, RowAgainstABaselineOf1000) {
  const GoldenRow& row = GetParam();
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, 1000), MakeTrial(1, row.parallelism, row.sps)});
  const Setting& setting = found.settings.at(1);
  EXPECT_DOUBLE_EQ(row.speedup, *setting.speedup);
  EXPECT_DOUBLE_EQ(row.efficiency_pct, *setting.efficiency_pct);
  EXPECT_STREQ(row.band, BandName(BandOf(*setting.efficiency_pct)));
  EXPECT_EQ(100, *found.settings.at(0).efficiency_pct);
  EXPECT_EQ("", found.series.at(0).baseline_note);
}

INSTANTIATE_TEST_SUITE_P(ParallelEfficiency, Golden,
                         testing::Values(GoldenRow{2, 1950, 1.95, 97.5, "excellent"}, GoldenRow{4, 3400, 3.4, 85, "excellent"},
                                         GoldenRow{4, 3100, 3.1, 77.5, "good"}, GoldenRow{8, 5200, 5.2, 65, "good"},
                                         GoldenRow{8, 4700, 4.7, 58.75, "bottleneck"},
                                         GoldenRow{16, 6400, 6.4, 40, "bottleneck"}, GoldenRow{4, 3200, 3.2, 80, "excellent"},
                                         GoldenRow{8, 4800, 4.8, 60, "good"}, GoldenRow{5, 3998, 3.998, 79.96, "good"},
                                         GoldenRow{2, 2000, 2, 100, "ideal"}));

TEST(ParallelEfficiency, BoundsOfTheBandsHoldForAnyBaseline) {
  // 0.1 and its multiples have no exact form: a quotient of quotients falls below the bound.
  for (const double sps : {0.1, 0.3, 0.7, 1.1, 3.3, 1e-3}) {
    const ParallelEfficiency found = Analyse({MakeTrial(1, 1, sps), MakeTrial(1, 5, sps * 4)});
    EXPECT_EQ(EfficiencyBand::kExcellent, BandOf(*found.settings[1].efficiency_pct)) << sps;
  }
}

TEST(ParallelEfficiency, TheBaselineIsAlwaysIdeal) {
  for (const double sps : {5429512.8573, 0.1, 1.0 / 3, 9794.31, 49.0, 1e300, 1e-300}) {
    const ParallelEfficiency found = Analyse({MakeTrial(1, 1, sps)});
    EXPECT_EQ(100, *found.settings[0].efficiency_pct) << sps;
    EXPECT_EQ("ideal", found.settings[0].band) << sps;
  }
}

TEST(ParallelEfficiency, CoreEfficiencyDividesByTheCoresThatCanBeUsed) {
  const ParallelEfficiency found =
      Analyse({MakeTrial(1, 1, 1000), MakeTrial(1, 4, 1000), MakeTrial(2, 1, 1800), MakeTrial(8, 1, 1800)});
  ASSERT_EQ(4u, found.settings.size());
  EXPECT_EQ(100, *found.settings[0].core_efficiency_pct);
  EXPECT_EQ(90, *found.settings[1].core_efficiency_pct);   // two runners, two cores
  EXPECT_EQ(100, *found.settings[2].core_efficiency_pct);  // one runner has one core, whatever its rows
  EXPECT_EQ(90, *found.settings[3].core_efficiency_pct);   // eight runners share two cores
}

TEST(ParallelEfficiency, SettingsAreSortedByParallelismThenRunners) {
  const ParallelEfficiency found =
      Analyse({MakeTrial(8, 1, 5), MakeTrial(4, 2, 5), MakeTrial(1, 2, 5), MakeTrial(2, 1, 5), MakeTrial(1, 1, 5)});
  std::vector<std::pair<uint64_t, uint64_t>> order;
  for (const Setting& setting : found.settings) order.emplace_back(setting.num_env_runners, setting.num_envs_per_env_runner);
  EXPECT_EQ((std::vector<std::pair<uint64_t, uint64_t>>{{1, 1}, {1, 2}, {2, 1}, {4, 2}, {8, 1}}), order);
}

TEST(ParallelEfficiency, TheSmallestParallelismIsTheBaselineIfThereIsNo1) {
  const ParallelEfficiency found = Analyse({MakeTrial(8, 1, 3000), MakeTrial(2, 1, 900), MakeTrial(1, 2, 1000)});
  EXPECT_EQ(0u, *found.series[0].baseline);
  EXPECT_EQ(1u, found.settings[0].num_env_runners);  // of two with parallelism 2, the one with fewer runners
  EXPECT_EQ(100, *found.settings[0].efficiency_pct);
  EXPECT_EQ(3, *found.settings[2].speedup);
  EXPECT_EQ(75, *found.settings[2].efficiency_pct);  // 3 / (8 / 2)
  EXPECT_EQ(
      "There is no setting with one env; speedups are relative to 1 x 2 (parallelism 2), "
      "and "
      "efficiency divides them by parallelism / 2.",
      found.series[0].baseline_note);
}

TEST(ParallelEfficiency, ABaselineThatFailedIsAbsent) {
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, std::nullopt), MakeTrial(1, 2, 1000), MakeTrial(1, 4, 1800)});
  EXPECT_EQ(1u, *found.series[0].baseline);
  EXPECT_THAT(found.series[0].baseline_note,
              HasSubstr("The setting with one env has no speed: FAILED (oom): no memory left; speedups are relative to "));
  EXPECT_FALSE(found.settings[0].efficiency_pct);
  EXPECT_EQ(90, *found.settings[2].efficiency_pct);
}

TEST(ParallelEfficiency, TheBaselineCanBeRequestedByValues) {
  const json wanted = {{"rollout.num_env_runners", 2}, {"rollout.num_envs_per_env_runner", 1}};
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, 1200), MakeTrial(2, 1, 2000), MakeTrial(4, 1, 3000)}, wanted);
  EXPECT_EQ(1u, *found.series[0].baseline);
  EXPECT_EQ(0.6, *found.settings[0].speedup);
  EXPECT_EQ(120, *found.settings[0].efficiency_pct);
  EXPECT_EQ(75, *found.settings[2].efficiency_pct);
  EXPECT_THAT(found.series[0].baseline_note, HasSubstr("Because report.baseline is set, speedups are relative to 2 x 1 "));
}

TEST(ParallelEfficiency, TheBaselineCanBeRequestedByName) {
  TrialData before = MakeTrial(4, 1, 2000);
  before.point = "before";
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, 1000), before}, "before");
  EXPECT_EQ(1u, *found.series[0].baseline);
}

TEST(ParallelEfficiency, AFailedRequestedBaselineIsReplacedAndNamed) {
  const ParallelEfficiency found =
      Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, std::nullopt)}, {{"rollout.num_env_runners", 2}});
  EXPECT_EQ(0u, *found.series[0].baseline);
  EXPECT_EQ(
      "The baseline of report.baseline (2 x 1) has no speed: FAILED (oom): no memory left; the setting with one env is the "
      "baseline instead.",
      found.series[0].baseline_note);
}

TEST(ParallelEfficiency, ReportsThatNoPointMatchesTheBaseline) {
  EXPECT_THAT(Analyse({MakeTrial(1, 1, 1000)}, "after").series[0].baseline_note,
              HasSubstr("No point matches report.baseline (after); the setting with one env"));
}

TEST(ParallelEfficiency, WithoutAnySpeedThereIsNoBaseline) {
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, std::nullopt)});
  EXPECT_FALSE(found.series[0].baseline);
  EXPECT_EQ("None of these trials has a speed, so there is no comparison.", found.series[0].baseline_note);
  EXPECT_EQ(0u, found.settings[0].usable);
}

TEST(ParallelEfficiency, TheReasonNamesFailedSeeds) {
  TrialData planned = MakeTrial(1, 1, std::nullopt, 3);
  planned.state = TrialState::kPlanned, planned.outcome = {}, planned.why = "", planned.cores = {}, planned.ended = 0;
  TrialData killed = MakeTrial(1, 1, std::nullopt, 4);
  killed.state = TrialState::kPlanned, killed.outcome = Outcome::kKilled, killed.why = "stopped by the user";
  const ParallelEfficiency found =
      Analyse({MakeTrial(1, 1, 900), MakeTrial(1, 1, std::nullopt, 1), planned, MakeTrial(1, 1, std::nullopt, 2), killed});
  EXPECT_EQ(1u, found.settings[0].usable);
  EXPECT_EQ(900, found.settings[0].sps->value);
  EXPECT_EQ(
      "2 of 5 seeds FAILED (oom): no memory left; 1 of 5 seeds not started; 1 of 5 seeds interrupted (killed): stopped by the "
      "user",
      found.settings[0].failure);
}

TEST(ParallelEfficiency, AFailedTrialKeepsItsMeasuresButIsNotScored) {
  TrialData failed = MakeTrial(2, 1, 5000);
  failed.state = TrialState::kFailed, failed.outcome = Outcome::kTimeout, failed.why = "too slow";
  const ParallelEfficiency found = Analyse({MakeTrial(1, 1, 1000), failed});
  EXPECT_FALSE(found.settings[1].sps);
  EXPECT_EQ("", found.settings[1].band);
  EXPECT_EQ("FAILED (timeout): too slow", found.settings[1].failure);
}

TEST(ParallelEfficiency, ReportsACompletedTrialWithoutASpeed) {
  TrialData trial = MakeTrial(1, 1, 1000);
  trial.measures.clear();
  EXPECT_EQ("COMPLETED, but its result.json gives no speed", Analyse({trial}).settings[0].failure);
}

TEST(ParallelEfficiency, ARowIsShortBelowFiveSecondsAndThreeIterations) {
  const auto is_short = [](double seconds, uint64_t iterations) {
    TrialData trial = With(MakeTrial(1, 1, 1000), "measured_s", MeanOf(seconds, std::nullopt, 1, ""));
    trial.measures["SPS"] = MeanOf(1000, std::nullopt, iterations, "iterations");
    return Analyse({trial}).settings[0].is_short;
  };
  TrialData unrecorded = With(MakeTrial(1, 1, 1000), "wall_s", MeanOf(4, std::nullopt, 1, ""));
  unrecorded.measures["SPS"] = MeanOf(1000, std::nullopt, 1, "");
  EXPECT_TRUE(Analyse({unrecorded}).settings[0].is_short);
  unrecorded.measures["iterations"] = MeanOf(4, std::nullopt, 1, "");
  EXPECT_FALSE(Analyse({unrecorded}).settings[0].is_short);
  EXPECT_TRUE(is_short(4.9, 2));
  EXPECT_FALSE(is_short(4.9, 3));
  EXPECT_FALSE(is_short(5, 2));
}

}  // namespace
}  // namespace backplane
