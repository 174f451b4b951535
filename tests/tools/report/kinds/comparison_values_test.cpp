// Cells and headings of a comparison's table.
#include <gmock/gmock.h>

#include <set>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using test_support::At;
using test_support::Context;
using test_support::FailedTrial;
using test_support::FigureOf;
using test_support::PanelsOf;
using test_support::RowsOf;
using test_support::Set;
using test_support::TableOf;
using test_support::TextAt;
using test_support::TextsOf;
using test_support::Trial;

TEST(ComparisonCells, ShowTextIfAllSeedsHaveTheSame) {
  TrialData odd = Trial(2, 1, 1000, 1);
  odd.config["learner"]["plugin"] = "other";
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000, 0), Trial(1, 1, 1000, 1), Trial(2, 1, 1000, 0), odd,
                                                   FailedTrial(4, 1, "FAILED", "signal", "SIGSEGV")})},
                                             Context("comparison", {{"columns", {"learner.plugin", "rollout.pin_threads"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ("teacher", TextAt(table, 0, "learner_plugin"));
  EXPECT_EQ("false", TextAt(table, 0, "rollout_pin_threads"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(At(table, 1, "learner_plugin")));
  EXPECT_EQ("teacher", TextAt(table, 2, "learner_plugin")) << "known although the trial failed";
}

TEST(ComparisonCells, ReportsUnknownMeasuresInEverySection) {
  const Document document = ComparisonReport(
      {Set({Trial(1, 1, 1000)})},
      Context("comparison", {{"columns", {"SPS"}},
                             {"figures", {{{"scatter", {{"file", "a.png"}, {"x", "rss_peek_mb"}, {"y", "SPS"}}}}}},
                             {"select", {{"metric", "retrun"}, {"where", "wal_s < 3"}}}}));
  const std::vector<std::string> wanted = {
      "No trial measured 'rss_peek_mb'; did you mean 'rss_peak_mb'?", "No trial measured 'retrun'; did you mean 'return'?",
      "No trial measured 'wal_s'; did you mean 'wall_s'?", "No figure a: no point has both rss_peek_mb and SPS."};
  EXPECT_EQ(wanted, TableOf(document, "results").notes);
}

TEST(ComparisonColumns, HaveKeysOfTheirOwnInTheCsv) {
  const json named = {{"measure", "wall_s"}, {"title", "n"}}, spread = {{"measure", "wall_s"}, {"title", "SPS low"}};
  std::vector<TrialData> trials = {Trial(1, 1, 1000, 0), Trial(1, 1, 1200, 1)};
  for (TrialData& trial : trials) trial.measures["eval/return"] = test_support::Single(7);
  const Document document = ComparisonReport(
      {Set(trials)}, Context("comparison", {{"columns", {"SPS", "eval/return", "eval_return", named, spread}}}));
  std::set<std::string> keys;
  for (const Column& column : TableOf(document, "results").columns) EXPECT_TRUE(keys.insert(column.key).second) << column.key;
  const std::string csv = RenderCsv(TableOf(document, "results"));
  std::set<std::string> headings;
  for (size_t begin = 0, end = csv.find('\n'); begin < end;) {
    const size_t comma = std::min(csv.find(',', begin), end);
    EXPECT_TRUE(headings.insert(csv.substr(begin, comma - begin)).second) << csv.substr(0, end);
    begin = comma + 1;
  }
  EXPECT_TRUE(keys.contains("eval_return") && keys.contains("eval_return_2") && keys.contains("n_2"));
}

TrialData Recorded(uint64_t runners, std::vector<double> losses) {
  TrialData trial = Trial(runners, 1, 1000);
  trial.registered["train/loss"] = {"nats", -1, ""};
  trial.registered["data/first_oom"] = {"", 0, ""};
  for (size_t i = 0; i < losses.size(); ++i) trial.curves["train/loss"].push_back({i + 1, 0, 0, losses[i]});
  return trial;
}

TEST(ComparisonColumns, MayBeReducedCurves) {
  const Document document = ComparisonReport(
      {Set({Recorded(1, {3, 2}), Recorded(2, {4, 1})})},
      Context("comparison", {{"columns", {"train/loss@last", "data/first_oom@min", "train/loss@iterations_to_min"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ("nats", table.columns[1].unit);
  EXPECT_EQ(-1, table.columns[1].direction);
  EXPECT_EQ(2, std::get<Number>(At(table, 0, "train_loss_last")).value);
  EXPECT_EQ(1, std::get<Number>(At(table, 1, "train_loss_last")).value);
  EXPECT_EQ(2, std::get<Number>(At(table, 1, "train_loss_iterations_to_min")).value);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(At(table, 0, "data_first_oom_min"))) << "registered, and nothing recorded";
  EXPECT_TRUE(table.notes.empty()) << table.notes[0];
}

TEST(ComparisonColumns, DetailsAreNeitherInTextNorInTheBaselineTable) {
  const json detail = {{"measure", "wall_s"}, {"detail", true}};
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 2000)})},
                       Context("comparison", {{"columns", {"SPS", detail}}, {"baseline", "runners=1 envs=1"}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ(10, std::get<Number>(At(table, 0, "wall_s")).value);
  EXPECT_TRUE(table.columns[1].in_text);
  EXPECT_FALSE(table.columns[2].in_text);
  EXPECT_EQ(2u, TableOf(document, "change").columns.size());
}

TEST(ComparisonColumns, ContainMachineAndSeedInTheCsv) {
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000, 0), Trial(1, 1, 1200, 1)})}, Context("comparison", {{"columns", {"SPS"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ("0 1", TextAt(table, 0, "seed"));
  EXPECT_EQ("COMPLETED COMPLETED", TextAt(table, 0, "status"));
  EXPECT_EQ("h", TextAt(table, 0, "host"));
  EXPECT_EQ("2", TextAt(table, 0, "torch_version"));
}

TEST(ComparisonFigures, MarkTheBestOfAColumn) {
  const json table = {{"table", {{"file", "summary.png"}}}};
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 2000)})},
                                             Context("comparison", {{"columns", {"SPS", "wall_s"}}, {"figures", {table}}}));
  const std::vector<std::string> texts = TextsOf(FigureOf(document, "summary").panels[0]);
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("2,000 ± ")).Times(1));
  EXPECT_THAT(texts, testing::Contains(testing::EndsWith(" *")).Times(1)) << "more steps per second; both took as long";
  EXPECT_THAT(texts, testing::Contains(testing::AllOf(testing::StartsWith("2,000"), testing::EndsWith(" *"))));
}

TEST(ComparisonFigures, ACurveCanHaveTheSumOfAnotherAsItsAxis) {
  TrialData trial = Recorded(1, {3, 2});
  trial.curves["tokens"] = {{1, 0, 0, 10}, {2, 0, 0, 30}};
  const json curves = {{"curves", {{"file", "a.png"}, {"y", "train/loss"}, {"x", "tokens@sum"}}}};
  const Document document =
      ComparisonReport({Set({trial})}, Context("comparison", {{"columns", {"SPS"}}, {"figures", {curves}}}));
  const Figure& figure = FigureOf(document, "a");
  EXPECT_EQ("tokens so far", figure.panels[0]["encoding"]["x"]["title"]);
  EXPECT_EQ(10, RowsOf(figure, "train loss", "mean").at(0)["x"]);
  EXPECT_EQ(40, RowsOf(figure, "train loss", "mean").at(1)["x"]);
}

TEST(ComparisonFigures, ACommandsPartialValuesOfAStepCountAsOneInTheMean) {
  TrialData at_once = Recorded(1, {}), in_parts = Recorded(1, {});
  at_once.config["learner"]["command"] = in_parts.config["learner"]["command"] = {"python3", "train.py"};
  in_parts.seed = 1;
  in_parts.trial_id = "parts";
  at_once.curves["train/loss"] = {{1, 10, 0, 4}, {2, 20, 0, 2}};
  in_parts.curves["train/loss"] = {{1, 10, 0, 6}, {3, 20, 0, 9}, {4, 20, 0, 8}};
  const json curves = {{"curves", {{"file", "a.png"}, {"y", "train/loss"}, {"x", "env_steps"}}}};
  const Document document =
      ComparisonReport({Set({at_once, in_parts})}, Context("comparison", {{"columns", {"SPS"}}, {"figures", {curves}}}));
  EXPECT_EQ(json(FigureOf(document, "a").panels).dump().find("environment steps"), std::string::npos);
  const auto means = RowsOf(FigureOf(document, "a"), "train loss", "mean");
  ASSERT_EQ(2u, means.size());
  EXPECT_EQ(10, means[0]["x"]);
  EXPECT_EQ(5, means[0]["value"]);
  EXPECT_EQ(20, means[1]["x"]);
  EXPECT_EQ(5, means[1]["value"]);
  EXPECT_EQ("2 seeds", means[1]["n"]);
}

TEST(ComparisonFigures, ACurveOverTwoAxesIsTwoPanels) {
  const json over_time = {{"name", "train/loss"}, {"x", "time_s"}};
  const json curves = {{"curves", {{"file", "a.png"}, {"y", {"train/loss", over_time}}, {"x", "iteration"}}}};
  const Document document =
      ComparisonReport({Set({Recorded(1, {3, 2})})}, Context("comparison", {{"columns", {"SPS"}}, {"figures", {curves}}}));
  EXPECT_THAT(PanelsOf(FigureOf(document, "a")), testing::ElementsAre("train loss over iteration", "train loss over seconds"));
  EXPECT_EQ(2u, RowsOf(FigureOf(document, "a"), "train loss over seconds", "mean").size());
}

TEST(ComparisonSelections, EachHasItsSentenceItsMarkAndItsFile) {
  const json fast = {{"metric", "SPS"}}, small = {{"metric", "rss_peak_mb"}, {"write", "least.yaml"}};
  TrialData slow = Trial(1, 1, 1000);
  slow.measures["rss_peak_mb"] = test_support::Single(100);
  const Document document = ComparisonReport({Set({slow, Trial(2, 1, 2000)})},
                                             Context("comparison", {{"columns", {"SPS"}}, {"select", {fast, small}}}));
  EXPECT_NE(std::string::npos, document.verdict.at(1).find("runners=2 envs=1, with the highest SPS"));
  EXPECT_NE(std::string::npos, document.verdict.at(2).find("runners=1 envs=1, with the lowest rss_peak_mb: 100"));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ("selected by rss_peak_mb", TextAt(table, 0, "remark"));
  EXPECT_EQ("selected by SPS", TextAt(table, 1, "remark"));
  EXPECT_EQ(std::vector<size_t>{1}, table.emphasised);
  ASSERT_EQ(2u, document.attachments.size());
  EXPECT_EQ("least.yaml", document.attachments[1].name);
}

TEST(ComparisonFigures, AnUnrecordedAxisIsReportedAndDrawsNoFigure) {
  const json curves = {{"curves", {{"file", "a.png"}, {"y", "train/loss"}, {"x", "tokns@sum"}}}};
  const Document document =
      ComparisonReport({Set({Recorded(1, {3, 2})})}, Context("comparison", {{"columns", {"SPS"}}, {"figures", {curves}}}));
  for (const Figure& figure : document.figures) EXPECT_NE("a", figure.name);
  EXPECT_EQ("No trial measured 'tokns@sum'.", TableOf(document, "results").notes.at(0).substr(0, 31));
  EXPECT_EQ("No figure a: train/loss was not recorded.", TableOf(document, "results").notes.back());
}

TEST(ComparisonFigures, ANumberThatIsNotFiniteIsNoRival) {
  const json table = {{"table", {{"file", "summary.png"}}}};
  TrialData odd = Trial(2, 1, 2000);
  odd.measures["SPS"] = test_support::Single(NAN);
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000), odd, Trial(4, 1, 500)})},
                                             Context("comparison", {{"columns", {"SPS"}}, {"figures", {table}}}));
  EXPECT_THAT(TextsOf(FigureOf(document, "summary").panels[0]),
              testing::Contains(testing::AllOf(testing::StartsWith("1,000"), testing::EndsWith(" *"))));
}

TEST(ComparisonSelections, ReportEqualPoints) {
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000), Trial(2, 1, 1000), Trial(4, 1, 500)})},
                       Context("comparison", {{"columns", {"SPS"}}, {"select", {{"metric", "rss_peak_mb"}}}}));
  EXPECT_NE(std::string::npos, document.verdict.at(1).find("runners=2 envs=1, runners=4 envs=1 have the same value."));
}

TEST(ComparisonSelections, FollowTheDirectionThatPluginsRegistered) {
  const Document document =
      ComparisonReport({Set({Recorded(1, {3, 2}), Recorded(2, {4, 1})})},
                       Context("comparison", {{"columns", {"SPS"}}, {"select", {{"metric", "train/loss@last"}}}}));
  EXPECT_NE(std::string::npos, document.verdict.at(1).find("runners=2 envs=1, with the lowest train/loss@last: 1"));
}

TEST(ComparisonColumns, OnlyAWholeNameInheritsAUnit) {
  const Document document =
      ComparisonReport({Set({Recorded(1, {3, 2})})},
                       Context("comparison", {{"columns", {"1 / train/loss@iterations_to_min", "2 * train/loss@last"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ(0, table.columns[1].direction);
  EXPECT_EQ("", table.columns[2].unit);
}

TEST(ComparisonReport, HasTheFilesNotesAmongItsLimits) {
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison", {{"columns", {"SPS"}}, {"notes", {"Same kernels."}}}));
  EXPECT_NE(std::string::npos, RenderMarkdown(document).find("Same kernels."));
}

TEST(ComparisonFigures, ASecondMeasureIsHollow) {
  const json scatter = {{"scatter", {{"file", "a.png"}, {"x", "rss_peak_mb"}, {"y", {"SPS", "return"}}}}};
  const Document document =
      ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison", {{"columns", {"SPS"}}, {"figures", {scatter}}}));
  const Figure& figure = FigureOf(document, "a");
  const std::string panel = PanelsOf(figure).at(0);
  EXPECT_EQ("steps per second; hollow: return", panel);
  EXPECT_EQ(1000, RowsOf(figure, panel, "mean").at(0)["value"]);
  EXPECT_EQ(100, RowsOf(figure, panel, "hollow").at(0)["value"]);
}

}  // namespace
}  // namespace backplane
