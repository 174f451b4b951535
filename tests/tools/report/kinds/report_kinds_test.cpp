// Both kinds of report, from results to the document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::At;
using test_support::AttachmentOf;
using test_support::BlocksOf;
using test_support::Contains;
using test_support::Context;
using test_support::FailedTrial;
using test_support::FigureOf;
using test_support::NumberAt;
using test_support::PanelsOf;
using test_support::RowsOf;
using test_support::Set;
using test_support::Single;
using test_support::TableOf;
using test_support::TextAt;
using test_support::TextsOf;
using test_support::Trial;
using ::testing::ElementsAre;

TEST(ParallelEfficiencyReport, RowsVerdictAndRecommendedFiles) {
  const Document document = ParallelEfficiencyReport({Set({Trial(1, 1, 1000), Trial(2, 1, 1950), Trial(4, 1, 1990)})},
                                                     Context("parallel_efficiency"));
  const Table& table = TableOf(document, "results");
  ASSERT_EQ(3u, table.rows.size());
  EXPECT_DOUBLE_EQ(1.95, NumberAt(table, 1, "speedup"));
  EXPECT_DOUBLE_EQ(97.5, NumberAt(table, 1, "efficiency_pct"));
  EXPECT_EQ("too few seeds", TextAt(table, 1, "band"));
  EXPECT_DOUBLE_EQ(99.5, NumberAt(table, 2, "core_efficiency_pct"));
  EXPECT_NE(std::string::npos, document.verdict[0].find("Too few seeds to name the fastest setting"));
  const std::string file = AttachmentOf(document, "recommended_balanced.yaml");
  EXPECT_NE(std::string::npos, file.find("num_env_runners: 4")) << file;
  EXPECT_NE(std::string::npos, file.find("experiment: walk_recommended_balanced")) << file;
}

TEST(ParallelEfficiencyReport, AFigureHoldsTheTablesNumbersAndEachSeed) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (const uint64_t runners : {1, 2})
      trials.push_back(Trial(runners, 1, 1000.0 * static_cast<double>(runners) + 10.0 * static_cast<double>(seed), seed));
  }
  const Document document = ParallelEfficiencyReport({Set(trials)}, Context("parallel_efficiency"));
  const Figure& figure = FigureOf(document, "parallel_efficiency_analysis");
  EXPECT_THAT(PanelsOf(figure),
              ElementsAre("Throughput", "Speedup", "Parallel efficiency", "Training time", "Learning performance", "Summary"));
  const Table& table = TableOf(document, "results");
  const auto means = RowsOf(figure, "Throughput", "mean");
  ASSERT_EQ(2u, means.size());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(NumberAt(table, i, "sps"), means[i]["value"]);
    EXPECT_EQ(*std::get<Number>(At(table, i, "sps")).low, means[i]["low"]);
    EXPECT_EQ(NumberAt(table, i, "speedup"), RowsOf(figure, "Speedup", "mean")[i]["value"]);
    EXPECT_EQ(NumberAt(table, i, "efficiency_pct"), RowsOf(figure, "Parallel efficiency", "mean")[i]["value"]);
  }
  EXPECT_EQ(*std::get<Number>(At(table, 1, "speedup")).high, RowsOf(figure, "Speedup", "mean")[1]["high"]);
  EXPECT_EQ("point-runners=2 envs=1-0 point-runners=2 envs=1-1 point-runners=2 envs=1-2", means[1]["trials"]);
  const auto seeds = RowsOf(figure, "Throughput", "one");
  ASSERT_EQ(6u, seeds.size());
  EXPECT_EQ(2020, seeds[5]["value"]);
  EXPECT_EQ("seed 2", seeds[5]["of"]);
  EXPECT_DOUBLE_EQ(2020 / NumberAt(table, 0, "sps"), RowsOf(figure, "Speedup", "one")[5]["value"]);
  EXPECT_EQ(2, RowsOf(figure, "Speedup", "ideal").back()["value"]) << "twice as many rows, twice as fast";
  EXPECT_NE(std::string::npos, figure.panels[1].dump().find("\"2 cores\"")) << "the line of the cores";
}

TEST(ParallelEfficiencyReport, PanelsWithoutDataAreLeftOut) {
  TrialData trial = Trial(1, 1, 1000);
  trial.measures.erase("return");
  trial.measures["resources/rss_mb"] = Single(120);
  trial.measures["resources/rss_mb"].max = 150;
  const Document document = ParallelEfficiencyReport({Set({trial})}, Context("parallel_efficiency"));
  EXPECT_THAT(PanelsOf(FigureOf(document, "parallel_efficiency_analysis")),
              testing::Not(testing::Contains("Learning performance")));
  const Figure& resources = FigureOf(document, "resource_utilization_analysis");
  EXPECT_THAT(PanelsOf(resources), ElementsAre("CPU", "Memory")) << "no GPU";
  EXPECT_EQ(120, RowsOf(resources, "Memory", "mean")[0]["value"]);
  EXPECT_EQ(150, RowsOf(resources, "Memory", "mean")[0]["max"]) << "of the trial's own processes";
  const Document none =
      ParallelEfficiencyReport({Set({FailedTrial(1, 1, "FAILED", "plugin", "no")})}, Context("parallel_efficiency"));
  for (const Figure& figure : none.figures) EXPECT_NE("resource_utilization_analysis", figure.name);
}

TEST(ParallelEfficiencyReport, OneSeedsDotsAreItsIterationsAfterTheWarmUp) {
  TrialData trial = Trial(1, 1, 1000);
  trial.curves["SPS"] = {{0, 100, 1, 500, true}, {1, 200, 2, 990}, {2, 300, 3, 1010}};
  const Document document = ParallelEfficiencyReport({Set({trial})}, Context("parallel_efficiency"));
  const auto ones = RowsOf(FigureOf(document, "parallel_efficiency_analysis"), "Throughput", "one");
  ASSERT_EQ(2u, ones.size());
  EXPECT_EQ(990, ones[0]["value"]);
  EXPECT_EQ("iteration 1", ones[0]["of"]);
}

TEST(ComparisonReport, GainsAreTheRatiosOfTheTableRightUnderTheVerdict) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    trials.push_back(Trial(1, 1, 1000 + 10.0 * static_cast<double>(seed), seed));
    trials.push_back(Trial(2, 1, 2000 + 15.0 * static_cast<double>(seed), seed));
  }
  const Document document = ComparisonReport(
      {Set(trials)},
      Context("comparison", {{"columns", {"SPS", "wall_s", "rollout.num_env_runners"}}, {"baseline", "runners=1 envs=1"}}));
  EXPECT_EQ("gains", std::get<FigureUse>(document.sections.at(0).blocks.at(0)).name);
  const Figure& gains = FigureOf(document, "gains");
  EXPECT_THAT(PanelsOf(gains), ElementsAre("steps per second: more is better", "training time: less is better"));
  const auto means = RowsOf(gains, "steps per second: more is better", "mean");
  ASSERT_EQ(1u, means.size()) << "the baseline is the line at 1";
  const Number ratio = std::get<Number>(At(TableOf(document, "change"), 0, "sps"));
  EXPECT_EQ(ratio.value, means[0]["value"]);
  EXPECT_EQ(*ratio.low, means[0]["low"]);
  EXPECT_EQ(4u, RowsOf(gains, "steps per second: more is better", "one").size());
  for (const Figure& figure : ComparisonReport({Set(trials)}, Context("comparison")).figures) EXPECT_NE("gains", figure.name);
}

TEST(ComparisonReport, AFileWithoutFiguresGetsItsReturnsAsCurves) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000, 0), Trial(1, 1, 1000, 1)})}, Context("comparison"));
  const Figure& figure = FigureOf(document, "training_curves");
  EXPECT_THAT(PanelsOf(figure), ElementsAre("return"));
  const auto mean = RowsOf(figure, "return", "mean");
  ASSERT_EQ(2u, mean.size());
  EXPECT_EQ(200, mean[1]["x"]);
  EXPECT_EQ("2 seeds", mean[1]["n"]);
  EXPECT_EQ(4u, RowsOf(figure, "return", "one").size()) << "a thin line for each seed";
}

TEST(ParallelEfficiencyReport, ReportsTheRuleThatEndsATrial) {
  const auto says = [](const nlohmann::json& report, const char* what) {
    const Document document = ParallelEfficiencyReport({Set({Trial(1, 1, 1000)}, report)}, Context("parallel_efficiency"));
    const auto lists = BlocksOf<BulletList>(document, "design");
    return !lists.empty() && std::ranges::any_of(lists[0].items, [&](const auto& item) { return Contains(item, what); });
  };
  EXPECT_TRUE(says({{"precision", "5%"}, {"max_time", "20s"}},
                   "is within 5 % of its speed, or when its part of the 20 s per setting is used up"));
  EXPECT_TRUE(says(nullptr, "The budget of the file ends a trial"));
}

TEST(ParallelEfficiencyReport, MemoryOfWholeDevicesIsMarkedAsSuch) {
  const auto notes = [](double whole_device) {
    TrialData trial = Trial(1, 1, 1000);
    trial.measures["resources/vram_used_mb"].value = 6000;
    trial.measures["resources/gpu_whole_device"].value = whole_device;
    std::string all;
    const Document document = ParallelEfficiencyReport({Set({trial})}, Context("parallel_efficiency"));
    for (const std::string& note : TableOf(document, "resources").notes) all += note;
    return all;
  };
  EXPECT_NE(std::string::npos, notes(1).find("all users of the GPUs"));
  EXPECT_EQ(std::string::npos, notes(0).find("all users of the GPUs"));
}

TEST(ParallelEfficiencyReport, FailuresAreRowsWithTheirReasons) {
  const Document document = ParallelEfficiencyReport(
      {Set({Trial(1, 1, 1000), FailedTrial(2, 1, "INFEASIBLE", "oom", "needs 9 GiB"),
            FailedTrial(4, 1, "FAILED", "signal", "SIGSEGV in env.walker"), FailedTrial(8, 1, "PLANNED", "", "")})},
      Context("parallel_efficiency"));
  const Table& table = TableOf(document, "results");
  ASSERT_EQ(4u, table.rows.size());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(At(table, 1, "sps")));
  EXPECT_NE(std::string::npos, TextAt(table, 1, "remark").find("oom"));
  EXPECT_THAT(document.verdict, ::testing::Contains("2 of 4 settings have no result; the table lists the reasons."));
  ResultSet whole = Set({Trial(1, 1, 1000), FailedTrial(8, 1, "PLANNED", "", "")});
  whole.why_ended = "done";
  EXPECT_THAT(ParallelEfficiencyReport({whole}, Context("parallel_efficiency")).verdict,
              ::testing::Contains("1 of 2 settings have no result; the table lists the reasons."))
      << "settings that the sentence about a stopped batch omits";
  const Table& failures = TableOf(document, "failures");
  ASSERT_EQ(3u, failures.rows.size());
  EXPECT_EQ("needs 9 GiB", TextAt(failures, 0, "why"));
  EXPECT_EQ("backplane replay outputs/walk " + FailedTrial(4, 1, "FAILED", "", "").trial_id, TextAt(failures, 1, "again"));
}

TEST(ParallelEfficiencyReport, NothingUsableIsAReportToo) {
  const Document document =
      ParallelEfficiencyReport({Set({FailedTrial(1, 1, "FAILED", "plugin", "no")})}, Context("parallel_efficiency"));
  EXPECT_EQ(1u, TableOf(document, "results").rows.size());
  EXPECT_TRUE(document.attachments.empty());
  EXPECT_FALSE(document.verdict.empty());
}

TEST(ParallelEfficiencyReport, SetsInAnyOrderGiveTheSameDocument) {
  ResultSet a = Set({Trial(1, 1, 1000), Trial(2, 1, 1900)}), b = Set({Trial(4, 1, 3000), Trial(2, 1, 1800)});
  b.out = "outputs/more";
  for (TrialData& trial : b.trials) trial.out = b.out, trial.ended = 2000;
  const auto text = [](const std::vector<ResultSet>& sets) {
    return ToJson(ParallelEfficiencyReport(sets, Context("parallel_efficiency"))).dump();
  };
  const Document both = ParallelEfficiencyReport({a, b}, Context("parallel_efficiency"));
  EXPECT_DOUBLE_EQ(1800, NumberAt(TableOf(both, "results"), 1, "sps"));
  EXPECT_EQ(text({a, b}), text({b, a}));
}

TEST(ComparisonReport, ColumnsAreMeasuresPathsAndExpressions) {
  const Document document = ComparisonReport(
      {Set({Trial(1, 1, 1000), Trial(2, 1, 3000)})},
      Context("comparison", {{"columns", {"SPS", "rollout.num_env_runners", "SPS / rollout.num_env_runners"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_DOUBLE_EQ(2, NumberAt(table, 1, "rollout_num_env_runners"));
  EXPECT_DOUBLE_EQ(1500, NumberAt(table, 1, "sps___rollout_num_env_runners"));
}

TEST(ComparisonReport, AWrongNameIsAnEmptyColumnWithAHint) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison", {{"columns", {"retrun"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(At(table, 0, "retrun")));
  ASSERT_EQ(1u, table.notes.size());
  EXPECT_EQ("No trial measured 'retrun'; did you mean 'return'?", table.notes[0]);
}

TEST(ComparisonReport, OmitsUnmeasuredDefaultColumns) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison"));
  const Table& table = TableOf(document, "results");
  for (const Column& column : table.columns) EXPECT_NE("eval_return", column.key);
  EXPECT_DOUBLE_EQ(100, NumberAt(table, 0, "return"));
  EXPECT_TRUE(table.notes.empty());
}

TEST(ComparisonReport, SeedsAreAveraged) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000, 0), Trial(1, 1, 1200, 1)})}, Context("comparison"));
  const Number sps = std::get<Number>(At(TableOf(document, "results"), 0, "sps"));
  EXPECT_DOUBLE_EQ(1100, sps.value);
  EXPECT_EQ(2u, sps.n);
  EXPECT_EQ("seeds", sps.of);
}

TEST(ComparisonReport, TheBestPointThatFulfilsTheConditionIsSelected) {
  const Document document = ComparisonReport(
      {Set({Trial(1, 1, 1000), Trial(2, 1, 1900), Trial(4, 1, 3000)})},
      Context("comparison",
              {{"select", {{"metric", "SPS"}, {"where", "rollout.num_env_runners < 4"}, {"write", "chosen.yaml"}}}}));
  EXPECT_NE(std::string::npos, document.verdict[1].find("Selected: runners=2 envs=1")) << document.verdict[1];
  EXPECT_NE(std::string::npos, AttachmentOf(document, "chosen.yaml").find("num_env_runners: 2"));
  EXPECT_EQ(std::vector<size_t>{1}, TableOf(document, "results").emphasised);
}

TEST(ComparisonReport, ChangesAreRatiosToTheBaseline) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 1900)})},
                                             Context("comparison", {{"baseline", "runners=1 envs=1"}, {"columns", {"SPS"}}}));
  EXPECT_DOUBLE_EQ(1.9, NumberAt(TableOf(document, "change"), 0, "sps"));
}

TEST(ComparisonReport, AnIntervalIsScaledWithItsMeasure) {
  TrialData slow = Trial(1, 1, 1000), fast = Trial(2, 1, 2000);
  slow.measures["eval/x"] = test_support::Spread(0.5, 0.02, 50, "episodes");
  fast.measures["eval/x"] = test_support::Spread(0.6, 0, 50, "episodes");
  const auto table = [&](const char* measure) {
    return TableOf(
        ComparisonReport({Set({slow, fast})}, Context("comparison", {{"baseline", "runners=1 envs=1"},
                                                                     {"columns", {{{"measure", measure}, {"title", "x"}}}}})),
        "results");
  };
  const Number percent = std::get<Number>(At(table("100 * eval/x"), 0, "x"));
  EXPECT_NEAR(percent.value, 50, 1e-9);
  EXPECT_NEAR(*percent.low, 48, 1e-9);
  EXPECT_NEAR(*percent.high, 52, 1e-9);
  EXPECT_NEAR(*percent.sd, 2, 1e-9);
  EXPECT_EQ(percent.n, 50u);
  EXPECT_EQ(percent.of, "episodes");
  const Number missed = std::get<Number>(At(table("rollout.num_env_runners - eval/x"), 0, "x"));
  EXPECT_NEAR(*missed.low, 0.48, 1e-9);
  EXPECT_NEAR(*missed.high, 0.52, 1e-9);
  const Number sure = std::get<Number>(At(table("100 * eval/x"), 1, "x"));
  EXPECT_EQ(sure.low, sure.high) << "all episodes alike";
  for (const char* other : {"eval/x * eval/x", "eval/x / minutes", "floor(eval/x)"})
    EXPECT_FALSE(std::get<Number>(At(table(other), 0, "x")).low) << other;
}

TEST(ComparisonReport, OmitsHardwareThatThisMachineLacks) {
  const nlohmann::json gpu = {{"measure", "resources/gpu_util_pct"}, {"title", "GPU use"}};
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 2000)})},
                       Context("comparison", {{"baseline", "runners=1 envs=1"},
                                              {"columns", {"SPS", "vram_peak_mb", gpu, "resources/memory_limit_pct", "zzz"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ(table.notes,
            (std::vector<std::string>{"No trial measured 'zzz'.", "No GPU: vram_peak_mb, resources/gpu_util_pct left out.",
                                      "Not measured: resources/memory_limit_pct left out."}));
  std::vector<std::string> titles;
  for (const Column& column : table.columns)
    if (column.in_text) titles.push_back(column.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"point", "SPS", "zzz", "seeds", "remark"}));
}

TEST(ComparisonReport, StepsOfAnEpisodeFollowItsSeconds) {
  TrialData trial = Trial(1, 1, 1000);
  trial.measures["seconds_per_episode"] = test_support::Single(2);
  trial.measures["steps_per_episode"] = test_support::Single(120);
  const Document document =
      ComparisonReport({Set({trial})}, Context("comparison", {{"columns", {"seconds_per_episode", "SPS"}}}));
  std::vector<std::string> titles;
  const Table& results = TableOf(document, "results");
  for (const Column& column : results.columns)
    if (column.in_text) titles.push_back(column.title);
  EXPECT_THAT(titles, ElementsAre("point", "seconds_per_episode", "steps_per_episode", "SPS", "seeds", "remark"));
  EXPECT_EQ(NumberAt(results, 0, "steps_per_episode"), 120);
}

TEST(ComparisonReport, ACurveOfOneValueIsALevelAsWideAsTheOthers) {
  TrialData level = Trial(1, 1, 1000), curve = Trial(2, 1, 1000);
  level.curves["return"] = {{1, 0, 1, 30}};
  const auto rows = [](std::vector<TrialData> trials, const char* kind) {
    return RowsOf(
        FigureOf(ComparisonReport({Set(std::move(trials))},
                                  Context("comparison", {{"figures", {{{"curves", {{"file", "a.png"}, {"y", "return"}}}}}}})),
                 "a"),
        "return", kind);
  };
  ASSERT_EQ(1u, rows({level, curve}, "level").size());
  EXPECT_EQ(30, rows({level, curve}, "level")[0]["value"]);
  EXPECT_EQ(2u, rows({level, curve}, "mean").size());
  EXPECT_EQ(1u, rows({level}, "spot").size()) << "there is no other curve";
}

TEST(ComparisonReport, DrawsTheFilesFigures) {
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 1900)})},
                       Context("comparison", {{"figures",
                                               {{{"scatter", {{"file", "a.png"}, {"x", "rss_peak_mb"}, {"y", "SPS"}}}},
                                                {{"curves", {{"file", "b.png"}, {"y", {"return", "train/loss"}}}}},
                                                {{"table", {{"file", "c.png"}}}}}}}));
  EXPECT_EQ(2u, RowsOf(FigureOf(document, "a"), "steps per second", "mean").size());
  EXPECT_EQ(2u, FigureOf(document, "a").panels[0]["encoding"]["color"]["scale"]["domain"].size());
  EXPECT_EQ(4u, RowsOf(FigureOf(document, "b"), "return", "mean").size());
  EXPECT_THAT(PanelsOf(FigureOf(document, "b")), ElementsAre("return"));
  EXPECT_THAT(TableOf(document, "results").notes, testing::Contains("In figure b: train/loss was not recorded."));
  EXPECT_THAT(TextsOf(FigureOf(document, "c").panels[0]), testing::Contains("runners=2 envs=1"));
}

}  // namespace
}  // namespace backplane
