// A comparison over several machines never compares across them.
#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::AttachmentOf;
using test_support::Contains;
using test_support::Context;
using test_support::FailedTrial;
using test_support::NumberAt;
using test_support::SetOn;
using test_support::TableOf;
using test_support::TextAt;
using test_support::Trial;

std::string AllOf(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}

class TwoMachines : public ::testing::Test {
 protected:
  const ResultSet slow_ = SetOn("slow", {Trial(1, 1, 1000), Trial(2, 1, 1500), Trial(4, 1, 1400)}),
                  fast_ = SetOn("fast", {Trial(1, 1, 4000), Trial(2, 1, 5000), Trial(4, 1, 8000)});
};

TEST_F(TwoMachines, EachIsMeasuredAgainstItsOwnBaseline) {
  const Document document =
      ComparisonReport({slow_, fast_}, Context("comparison", {{"baseline", "runners=1 envs=1"}, {"columns", {"SPS"}}}));
  const Table& changes = TableOf(document, "change");
  std::vector<double> ratios;
  for (size_t row = 0; row < changes.rows.size(); ++row) ratios.push_back(NumberAt(changes, row, "sps"));
  std::sort(ratios.begin(), ratios.end());
  EXPECT_EQ((std::vector<double>{1.25, 1.4, 1.5, 2}), ratios);
  EXPECT_TRUE(Contains(changes.title, "slow") && Contains(changes.title, "fast")) << changes.title;
}

TEST_F(TwoMachines, EachHasItsOwnSelection) {
  const Document document = ComparisonReport({slow_, fast_}, Context("comparison", {{"select", {{"metric", "SPS"}}}}));
  const std::string verdict = AllOf(document.verdict);
  EXPECT_TRUE(Contains(verdict, "Selected: runners=2 envs=1 (")) << verdict;
  EXPECT_TRUE(Contains(verdict, "Selected: runners=4 envs=1 (")) << verdict;
  EXPECT_TRUE(Contains(verdict, "slow") && Contains(verdict, "fast")) << verdict;
  const std::string files = AttachmentOf(document, "selected_1.yaml") + AttachmentOf(document, "selected_2.yaml");
  EXPECT_TRUE(Contains(files, "num_env_runners: 2") && Contains(files, "num_env_runners: 4")) << files;
  EXPECT_EQ(2u, TableOf(document, "results").emphasised.size());
}

TEST_F(TwoMachines, ABaselineWithoutAResultCountsForItsMachineOnly) {
  const ResultSet broken = SetOn("slow", {FailedTrial(1, 1, "FAILED", "signal", "SIGSEGV"), Trial(2, 1, 1500)});
  const Document document =
      ComparisonReport({broken, fast_}, Context("comparison", {{"baseline", "runners=1 envs=1"}, {"columns", {"SPS"}}}));
  EXPECT_EQ(2u, TableOf(document, "change").rows.size());
  const std::string verdict = AllOf(document.verdict);
  EXPECT_TRUE(Contains(verdict, "The baseline runners=1 envs=1 of ")) << verdict;
  EXPECT_TRUE(Contains(verdict, " has no result, so the points are not compared with it.")) << verdict;
}

TEST_F(TwoMachines, TheWarningIsPrintedOnce) {
  const Document document = ComparisonReport({slow_, fast_}, Context("comparison"));
  const auto lists = test_support::BlocksOf<BulletList>(document, "limits");
  ASSERT_EQ(1u, lists.size());
  const auto about = [](const std::string& limit) { return Contains(limit, "machines or builds"); };
  EXPECT_EQ(1, std::count_if(lists[0].items.begin(), lists[0].items.end(), about));
}

TEST_F(TwoMachines, OneSeedOnEachIsOneSeed) {
  const Document document =
      ComparisonReport({SetOn("slow", {Trial(1, 1, 1000, 0)}), SetOn("fast", {Trial(1, 1, 4000, 1)})}, Context("comparison"));
  EXPECT_TRUE(Contains(test_support::BlocksOf<BulletList>(document, "limits")[0].items[0], "One seed:"));
}

TEST(ComparisonBaseline, WithAResultIsPreferredToOneWithout) {
  const Document document = ComparisonReport(
      {test_support::Set({FailedTrial(1, 1, "FAILED", "signal", "SIGSEGV"), Trial(1, 2, 1000), Trial(2, 1, 3000)})},
      Context("comparison", {{"baseline", {{"rollout.num_env_runners", 1}}}, {"columns", {"SPS"}}}));
  const Table& table = TableOf(document, "results");
  EXPECT_EQ("baseline", TextAt(table, 1, "remark"));
  EXPECT_DOUBLE_EQ(3, NumberAt(TableOf(document, "change"), 1, "sps"));
}

}  // namespace
}  // namespace backplane
