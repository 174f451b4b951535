// Both kinds of report, from results to the document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinds/comparison_report.hpp"
#include "kinds/parallel_efficiency_report.hpp"
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
using test_support::NumberAt;
using test_support::Set;
using test_support::TableOf;
using test_support::TextAt;
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
  EXPECT_NE(std::string::npos, document.verdict[0].find("Too few seeds to say which setting is the fastest"));
  const std::string file = AttachmentOf(document, "recommended_balanced.yaml");
  EXPECT_NE(std::string::npos, file.find("num_env_runners: 4")) << file;
  EXPECT_NE(std::string::npos, file.find("experiment: walk_recommended_balanced")) << file;
  EXPECT_EQ(2u, document.figures.size());
  EXPECT_EQ(6u, document.figures[0].panels.size());
}

TEST(ParallelEfficiencyReport, SaysHowLongATrialWentOn) {
  const auto says = [](const nlohmann::json& report, const char* what) {
    const Document document = ParallelEfficiencyReport({Set({Trial(1, 1, 1000)}, report)}, Context("parallel_efficiency"));
    const auto lists = BlocksOf<BulletList>(document, "design");
    return !lists.empty() && std::ranges::any_of(lists[0].items, [&](const auto& item) { return Contains(item, what); });
  };
  EXPECT_TRUE(says({{"precision", "5%"}, {"max_time", "20s"}}, "is within 5 % of its speed, or its part of the 20 s"));
  EXPECT_TRUE(says(nullptr, "A trial ends by the file's budget"));
}

TEST(ParallelEfficiencyReport, MemoryOfWholeDevicesIsSaidToBeThat) {
  const auto notes = [](double whole_device) {
    TrialData trial = Trial(1, 1, 1000);
    trial.measures["resources/vram_used_mb"].value = 6000;
    trial.measures["resources/gpu_whole_device"].value = whole_device;
    std::string all;
    const Document document = ParallelEfficiencyReport({Set({trial})}, Context("parallel_efficiency"));
    for (const std::string& note : TableOf(document, "resources").notes) all += note;
    return all;
  };
  EXPECT_NE(std::string::npos, notes(1).find("of all users of the GPUs"));
  EXPECT_EQ(std::string::npos, notes(0).find("of all users of the GPUs"));
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
  EXPECT_THAT(document.verdict,
              ::testing::Contains(::testing::HasSubstr("3 of 4 settings have no result; the table says why.")));
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
  const auto text = [](std::vector<ResultSet> sets) {
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

TEST(ComparisonReport, DefaultColumnsThatNobodyMeasuredAreLeftOut) {
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

TEST(ComparisonReport, WhatThisMachineDoesNotHaveIsLeftOut) {
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

TEST(ComparisonReport, StepsOfAnEpisodeStandBesideItsSeconds) {
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
  const auto series = [](std::vector<TrialData> trials) {
    return ComparisonReport({Set(std::move(trials))},
                            Context("comparison", {{"figures", {{{"curves", {{"file", "a.png"}, {"y", "return"}}}}}}}))
        .figures[0]
        .panels[0]
        .series;
  };
  const Series drawn = series({level, curve})[0];
  EXPECT_EQ(drawn.style, Series::Style::kLevel);
  ASSERT_EQ(drawn.marks.size(), 2u);
  EXPECT_EQ(drawn.marks[0].x, 100);
  EXPECT_EQ(drawn.marks[1].x, 200);
  EXPECT_EQ(drawn.marks[1].y, 30);
  EXPECT_EQ(series({level})[0].style, Series::Style::kPoints) << "nothing has a width";
}

TEST(ComparisonReport, FiguresAreThoseOfTheFile) {
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 1900)})},
                       Context("comparison", {{"figures",
                                               {{{"scatter", {{"file", "a.png"}, {"x", "rss_peak_mb"}, {"y", "SPS"}}}},
                                                {{"curves", {{"file", "b.png"}, {"y", {"return", "train/loss"}}}}},
                                                {{"table", {{"file", "c.png"}}}}}}}));
  ASSERT_EQ(3u, document.figures.size());
  EXPECT_EQ("a", document.figures[0].name);
  EXPECT_EQ(2u, document.figures[0].panels[0].series.size());
  EXPECT_EQ(2u, document.figures[1].panels[0].series[0].marks.size());
  EXPECT_EQ("train/loss was not recorded", document.figures[1].panels[1].note);
  EXPECT_EQ(2u, document.figures[2].panels[0].table->rows.size());
}

}  // namespace
}  // namespace backplane
