// Cells and headings of a comparison's table.
#include <gtest/gtest.h>

#include <set>

#include "report/comparison_report.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::At;
using testing::Context;
using testing::FailedTrial;
using testing::Set;
using testing::TableOf;
using testing::TextAt;
using testing::Trial;

TEST(ComparisonCells, TextIsShownWhereAllSeedsHaveTheSame) {
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

TEST(ComparisonCells, NamesThatNoTrialKnowsAreToldWhereverTheyStand) {
  const Document document = ComparisonReport(
      {Set({Trial(1, 1, 1000)})},
      Context("comparison", {{"columns", {"SPS"}},
                             {"figures", {{{"scatter", {{"file", "a.png"}, {"x", "rss_peek_mb"}, {"y", "SPS"}}}}}},
                             {"select", {{"metric", "retrun"}, {"where", "wal_s < 3"}}}}));
  const std::vector<std::string> wanted = {"No trial measured 'rss_peek_mb'; did you mean 'rss_peak_mb'?",
                                           "No trial measured 'retrun'; did you mean 'return'?",
                                           "No trial measured 'wal_s'; did you mean 'wall_s'?"};
  EXPECT_EQ(wanted, TableOf(document, "results").notes);
}

TEST(ComparisonColumns, HaveKeysOfTheirOwnInTheCsv) {
  const json named = {{"measure", "wall_s"}, {"title", "n"}}, spread = {{"measure", "wall_s"}, {"title", "SPS low"}};
  std::vector<TrialData> trials = {Trial(1, 1, 1000, 0), Trial(1, 1, 1200, 1)};
  for (TrialData& trial : trials) trial.measures["eval/return"] = testing::Single(7);
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

}  // namespace
}  // namespace backplane
