#include "screen/status_table.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "base/text_columns.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

Screen Plain(int width, int height) { return {.live = false, .colour = false, .width = width, .height = height, .utf8 = true}; }

std::vector<BatchRow> Rows() {
  std::vector<BatchRow> rows(6);
  rows[0] = {"lr=0.1", TrialState::kCompleted, 1, 1000, 3.5, 61, "", 10};
  rows[1] = {"lr=0.2", TrialState::kCompleted, 1, 2000, 4.5, 62, "", 20};
  rows[2] = {"lr=0.3", TrialState::kFailed, 0.5, 10, std::nullopt, 5, "died of SIGSEGV in env.toy", 15};
  rows[3] = {"lr=0.4", TrialState::kRunning, 0.163, 12345.4, 812.44, 42, "", 0};
  rows[4] = {"lr=0.5", TrialState::kPlanned};
  rows[5] = {"lr=0.6", TrialState::kPlanned};
  return rows;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(BatchTable, RunningThenFailedThenTheLatestThenThePlanned) {
  EXPECT_EQ(
      "3 of 6 done, 1 running, 1 failed   0:42, about 1:10 left\n"
      "  trial   state      progress  steps/s  return  time\n"
      "  lr=0.4  running        16 %   12,345   812.4  0:42\n"
      "  lr=0.3  failed     died of SIGSEGV in env.toy\n"
      "  lr=0.2  completed     100 %    2,000     4.5  1:02\n"
      "  lr=0.1  completed     100 %    1,000     3.5  1:01\n"
      "  lr=0.5  planned\n"
      "  lr=0.6  planned\n",
      FormatBatch(Rows(), {42, 70, ""}, Plain(80, 24)));
}

TEST(BatchTable, ShowsQueuedAndLostTrialsApartFromRunningOnes) {
  std::vector<BatchRow> rows = Rows();
  rows[1] = {"lr=0.2", TrialState::kLost, 0.5, 10, std::nullopt, 5, "its node was lost; 0:10 in the queue"};
  rows[4] = {"lr=0.5", TrialState::kQueued, {}, {}, {}, 12, "0:12 in the queue"};
  BatchTotals totals{42, std::nullopt, ""};
  totals.waits_for = "Slurm: Resources";
  EXPECT_EQ(
      "2 of 6 done, 1 running, 1 failed, 1 lost, 1 queued (Slurm: Resources)   0:42\n"
      "  trial   state      progress  steps/s  return  time\n"
      "  lr=0.4  running        16 %   12,345   812.4  0:42\n"
      "  lr=0.2  lost       its node was lost; 0:10 in the queue\n"
      "  lr=0.5  queued     0:12 in the queue\n"
      "  lr=0.3  failed     died of SIGSEGV in env.toy\n"
      "  lr=0.1  completed     100 %    1,000     3.5  1:01\n"
      "  lr=0.6  planned\n",
      FormatBatch(rows, totals, Plain(80, 24)));
  EXPECT_EQ("0 of 0 done, waiting (Slurm: Resources)   0:42", FormatTotals({}, totals)) << "before the first node";
}

TEST(BatchTable, PrintsTheBestOfASearchBelowTheTotals) {
  BatchTotals totals{42, 70, ""};
  totals.best = "eval/return 487.3, number 12: lr=0.4";
  const std::vector<std::string> lines = Lines(FormatBatch(Rows(), totals, Plain(80, 24)));
  EXPECT_EQ("  best so far: eval/return 487.3, number 12: lr=0.4", lines[1]);
  EXPECT_THAT(lines[2], HasSubstr("steps/s"));
  for (int height = 1; height < 12; ++height)
    EXPECT_LE(Lines(FormatBatch(Rows(), totals, Plain(80, height))).size(), static_cast<size_t>(std::max(height, 3)));
}

std::vector<BatchRow> RowsWithLive() {
  std::vector<BatchRow> rows = Rows();
  rows[1].live = {{"ep/success_rate", 0.91}, {"ep/length", 1234.56}};
  rows[3].live = {{"ep/success_rate", std::nullopt}, {"ep/length", 200}, {"eval/length", 7}};
  return rows;
}

TEST(BatchTable, ShowsMeasuresOfOutputLiveInTheLastColumns) {
  const std::vector<std::string> lines = Lines(FormatBatch(RowsWithLive(), {}, Plain(120, 24)));
  EXPECT_THAT(lines[1], testing::EndsWith("return  time  success_rate  ep/length  eval/length"));
  EXPECT_THAT(lines[2], testing::EndsWith("812.4  0:42                      200            7"))
      << "no value yet is an empty cell";
  EXPECT_THAT(lines[4], testing::EndsWith("4.5  1:02          0.91       1235"));
}

TEST(BatchTable, KeepsMeasuresOfOutputLiveOnANarrowScreen) {
  const std::vector<std::string> lines = Lines(FormatBatch(RowsWithLive(), {}, Plain(80, 24)));
  EXPECT_EQ("  trial   state      progress  steps/s  success_rate  ep/length  eval/length", lines[1]);
  const std::vector<std::string> narrow = Lines(FormatBatch(RowsWithLive(), {}, Plain(56, 24)));
  EXPECT_EQ("  trial   state      progress  success_rate  ep/length", narrow[1])
      << "as many as there is room for, in the file's order";
}

TEST(BatchTable, MarksValuesBelowTheirTarget) {
  std::vector<BatchRow> rows = Rows();
  rows[1].live = {{"resources/gpu_util_pct", 41.23}, {"resources/gpu_memory_pct", 85}};
  EXPECT_THAT(FormatTrialLine(rows[1]), testing::EndsWith("  gpu_util_pct 41.23 (target 90)  gpu_memory_pct 85"));
}

TEST(BatchTable, DropsDefaultMeasuresFirst) {
  std::vector<BatchRow> rows = Rows();
  rows[1].live = {{"resources/gpu_util_pct", 41.23, false}, {"resources/gpu_memory_pct", 85, false}};
  const auto heading = [&](int width) { return Lines(FormatBatch(rows, {}, Plain(width, 24)))[1]; };
  EXPECT_THAT(heading(100), testing::EndsWith("progress  steps/s  return  time       gpu_util_pct  gpu_memory_pct"));
  EXPECT_THAT(heading(70), testing::EndsWith("progress  steps/s  return  time"));
}

TEST(BatchTable, ALineOfALogNamesThem) {
  EXPECT_THAT(FormatTrialLine(RowsWithLive()[1]), testing::EndsWith("return 4.5  1:02  success_rate 0.91  length 1235"));
}

TEST(BatchTable, CountsTrialsThatDoNotFit) {
  const std::vector<std::string> lines = Lines(FormatBatch(Rows(), {}, Plain(80, 5)));
  ASSERT_EQ(5u, lines.size());
  EXPECT_THAT(lines[3], HasSubstr("failed"));
  EXPECT_EQ("  and 4 more: 2 completed, 2 planned", lines[4]);
}

TEST(BatchTable, NoLineIsWiderThanTheScreenAndNoTableHigher) {
  std::vector<BatchRow> rows = Rows();
  rows[3].name = "num_env_runners=8 num_envs_per_env_runner=2 learner.options.lr=0.0003 seed=4";
  rows[2].why = std::string(300, 'x');
  for (int width = 1; width < 130; ++width) {
    for (int height = 3; height < 12; ++height) {
      const std::vector<std::string> lines = Lines(FormatBatch(rows, {42, 70, "paused: a reason"}, Plain(width, height)));
      EXPECT_LE(lines.size(), static_cast<size_t>(height));
      for (const std::string& line : lines) {
        EXPECT_LT(Columns(line), static_cast<size_t>(std::max(width, 2))) << line;
      }
    }
  }
}

TEST(BatchTable, NarrowScreenKeepsNameAndStateAndTheValuesOfAName) {
  std::vector<BatchRow> rows = Rows();
  rows[3].name = "num_env_runners=8 num_envs_per_env_runner=2";
  const std::string text = FormatBatch(rows, {}, Plain(40, 24));
  EXPECT_THAT(text, HasSubstr("running"));
  EXPECT_THAT(text, Not(HasSubstr("time")));
  EXPECT_TRUE(std::regex_search(text, std::regex("…[a-z]+=8 .*…[a-z]+=2 +running"))) << text;
  Screen ascii = Plain(40, 24);
  ascii.utf8 = false;
  EXPECT_TRUE(std::regex_search(FormatBatch(rows, {}, ascii), std::regex("\\.\\.\\.[a-z]+=8 .*\\.\\.\\.[a-z]+=2 +running")));
}

TEST(BatchTable, ColourIsAroundTheStateOnly) {
  Screen screen = Plain(80, 24);
  screen.colour = true;
  const std::string text = FormatBatch(Rows(), {}, screen);
  EXPECT_THAT(text, HasSubstr("lr=0.3  \x1b[1;31mfailed\x1b[0m "));
  EXPECT_THAT(FormatBatch(Rows(), {}, Plain(80, 24)), Not(HasSubstr("\x1b")));
}

TEST(BatchTable, BatchWithoutTrialsHasOnlyTotals) { EXPECT_EQ("0 of 0 done   0:00\n", FormatBatch({}, {}, Plain(80, 24))); }

TEST(BatchTable, TrialLineForALog) {
  EXPECT_EQ("lr=0.4  running  16 %  12,345 steps/s  return 812.4  0:42", FormatTrialLine(Rows()[3]));
  EXPECT_EQ("lr=0.3  failed  died of SIGSEGV in env.toy", FormatTrialLine(Rows()[2]));
}

}  // namespace
}  // namespace backplane
