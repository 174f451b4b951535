// Curves of trials by command over several attempts. Each script here saves a checkpoint every 10 steps.
#include "command/curve_join.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "command/report_book.hpp"
#include "record/attempt_json.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CurveJoinTest : public testing::Test {
 protected:
  CurveJoinTest() { Attempt(); }
  ~CurveJoinTest() override { std::filesystem::remove_all(folder_); }

  ReportBook& Attempt() {
    book_.reset();
    spec_.attempt = ++attempts_;
    spec_.attempt_dir = Folder(attempts_);
    spec_.checkpoint_dir = folder_ / "checkpoint";
    spec_.resume = attempts_ > 1;
    std::filesystem::create_directories(spec_.attempt_dir);
    book_.emplace(spec_, &status_);
    book_->Start();
    return *book_;
  }
  std::filesystem::path Folder(int attempt) const { return folder_ / ("attempt-" + std::to_string(attempt)); }

  void Log(std::optional<uint64_t> step, std::map<std::string, double> values) { book_->Add({step, std::move(values)}); }
  void LogReturns(uint64_t first, uint64_t last) {
    for (uint64_t step = first; step <= last; ++step) Log(step, {{"return", static_cast<double>(step)}});
  }

  // Steps and values of a metric, as all readers of metrics.jsonl join attempts: by the number of the report.
  std::vector<std::pair<uint64_t, double>> Curve(const std::string& name) const {
    std::vector<Iteration> all;
    for (int attempt = 1; attempt <= attempts_; ++attempt) {
      bool first = true;
      ForEachIteration(Folder(attempt) / "metrics.jsonl", [&](const Iteration& line) {
        if (std::exchange(first, false))
          std::erase_if(all, [&](const Iteration& one) { return one.iteration >= line.iteration; });
        all.push_back(line);
      });
    }
    std::vector<std::pair<uint64_t, double>> curve;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].iteration, i + 1) << "no gap in the numbers";
      for (const MetricValue& one : MetricSeries(all[i]))
        if (one.name == name) curve.emplace_back(all[i].step.value_or(0), one.value);
    }
    return curve;
  }
  static std::vector<std::pair<uint64_t, double>> Straight(uint64_t first, uint64_t last) {
    std::vector<std::pair<uint64_t, double>> curve;
    for (uint64_t step = first; step <= last; ++step) curve.emplace_back(step, static_cast<double>(step));
    return curve;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("curve_join_" + std::to_string(getpid()));
  TrialSpec spec_;
  StatusWriter status_{""};
  std::optional<ReportBook> book_;
  int attempts_ = 0;
};

TEST_F(CurveJoinTest, SettingsReportedAgainAtStepZeroDropNothing) {
  Log(0, {{"lr", 0.001}});
  LogReturns(1, 45);
  Attempt();
  Log(0, {{"lr", 0.002}});
  EXPECT_EQ(book_->SpentNow().iterations, 46u) << "the place is not known yet";
  LogReturns(41, 100);
  EXPECT_EQ(Curve("return"), Straight(1, 100));
  EXPECT_THAT(Curve("lr"), ElementsAre(std::pair(0, 0.002))) << "the later attempt wins";
  EXPECT_EQ(book_->Result().iterations, 101u);
  EXPECT_THAT(book_->warnings(), IsEmpty());
}

TEST_F(CurveJoinTest, SettingsWithoutAStepDropNothing) {
  Log(std::nullopt, {{"lr", 0.001}});
  LogReturns(1, 45);
  Attempt();
  Log(std::nullopt, {{"lr", 0.001}});
  LogReturns(41, 100);
  EXPECT_EQ(Curve("return"), Straight(1, 100));
}

TEST_F(CurveJoinTest, SettingsInALineOfOtherMetricsAreReplacedAlone) {
  Log(0, {{"lr", 0.001}, {"eval/return", -5}, {"return", 0}});
  LogReturns(1, 45);
  Attempt();
  Log(0, {{"lr", 0.002}});
  LogReturns(41, 60);
  EXPECT_EQ(Curve("return"), Straight(0, 60));
  EXPECT_THAT(Curve("lr"), ElementsAre(std::pair(0, 0.002)));
  EXPECT_THAT(Curve("eval/return"), ElementsAre(std::pair(0, -5.0)));
}

TEST_F(CurveJoinTest, AnEvaluationOfAnEarlierStepDropsNothing) {
  Log(0, {{"eval/return", 1}});
  LogReturns(1, 45);
  Attempt();
  Log(20, {{"eval/return", 2}});
  LogReturns(41, 100);
  EXPECT_EQ(Curve("return"), Straight(1, 100));
  EXPECT_THAT(Curve("eval/return"), ElementsAre(std::pair(0, 1.0), std::pair(20, 2.0)));
}

// Event files are read one after the other, so the steps of a file follow later ones of another.
TEST_F(CurveJoinTest, StepsThatGoBackWithinAnAttemptLeaveNoGap) {
  LogReturns(1, 45);
  for (const uint64_t step : {10, 20, 30, 40}) Log(step, {{"eval/return", static_cast<double>(step)}});
  Attempt();
  LogReturns(31, 50);
  Log(40, {{"eval/return", 40}});
  EXPECT_EQ(Curve("return"), Straight(1, 50));
  EXPECT_THAT(Curve("eval/return"),
              ElementsAre(std::pair(10, 10.0), std::pair(20, 20.0), std::pair(30, 30.0), std::pair(40, 40.0)));
  Attempt();
  LogReturns(41, 60);
  EXPECT_EQ(Curve("return"), Straight(1, 60)) << "after a second resume";
}

TEST_F(CurveJoinTest, ReportsWithoutStepsFollowTheLastOne) {
  for (int i = 1; i <= 5; ++i) Log(std::nullopt, {{"loss", 10.0 - i}});
  Attempt();
  Log(std::nullopt, {{"loss", 4.5}});
  EXPECT_EQ(Curve("loss").size(), 6u);
}

TEST_F(CurveJoinTest, ReportsWithoutStepsAreJoinedAtARepeatedValue) {
  Log(std::nullopt, {{"lr", 0.001}});
  for (int i = 1; i <= 45; ++i) Log(std::nullopt, {{"loss", 1.0 / i}, {"SPS", 100.0 + i}});
  Attempt();
  Log(std::nullopt, {{"lr", 0.001}});
  for (int i = 41; i <= 60; ++i) Log(std::nullopt, {{"loss", 1.0 / i}, {"SPS", 90.0 + i}});
  std::vector<double> values;
  for (const auto& [step, value] : Curve("loss")) values.push_back(1 / value);
  ASSERT_EQ(values.size(), 60u);
  for (int i = 1; i <= 60; ++i) EXPECT_NEAR(values[i - 1], i, 1e-9);
  Attempt();
  Log(std::nullopt, {{"loss", 7}});
  EXPECT_EQ(Curve("loss").size(), 61u) << "another value continues the curve";
}

TEST_F(CurveJoinTest, AValueThatWasReportedTwiceShowsNoPlace) {
  for (const double loss : {3.0, 2.0, 2.0, 1.0}) Log(std::nullopt, {{"loss", loss}});
  Attempt();
  Log(std::nullopt, {{"loss", 2}});
  EXPECT_EQ(Curve("loss").size(), 5u);
}

TEST_F(CurveJoinTest, AStepMayComeWithALaterReport) {
  for (int i = 1; i <= 20; ++i) {
    Log(std::nullopt, {{"loss", 1.0 * i}});
    Log(i, {{"return", 1.0 * i}});
  }
  Attempt();
  Log(std::nullopt, {{"loss", 11}});
  LogReturns(11, 12);
  EXPECT_EQ(Curve("return"), Straight(1, 12));
}

TEST_F(CurveJoinTest, ARestartWithTheSameValuesStartsTheCurveAgain) {
  Log(0, {{"lr", 0.001}});
  for (int i = 1; i <= 5; ++i) Log(i, {{"return", 1.0 * i}, {"time/fps", 100.0 + i}});
  Attempt();
  Log(0, {{"lr", 0.001}});
  for (int i = 1; i <= 7; ++i) Log(i, {{"return", 1.0 * i}, {"time/fps", 90.0 + i}});
  EXPECT_EQ(Curve("return"), Straight(1, 7));
  EXPECT_THAT(Curve("lr"), ElementsAre(std::pair(0, 0.001)));
  EXPECT_THAT(book_->warnings(), IsEmpty());
}

TEST_F(CurveJoinTest, ACounterThatStartsAgainKeepsBothParts) {
  LogReturns(1, 45);
  Attempt();
  for (int i = 1; i <= 20; ++i) Log(i, {{"return", 40.0 + i}});  // resumed at 41, but counts its own steps
  EXPECT_EQ(Curve("return").size(), 65u);
  ASSERT_EQ(book_->warnings().size(), 1u);
  EXPECT_THAT(book_->warnings()[0], HasSubstr("start again at their first value"));
  EXPECT_THAT(book_->warnings()[0], HasSubstr("part 1: reports 1 to 45, up to step 45; part 2: attempt 2, from report 46"));
  Attempt();
  for (int i = 11; i <= 30; ++i) Log(i, {{"return", 40.0 + i}});  // resumes the second part
  EXPECT_EQ(Curve("return").size(), 75u) << "only the second part is cut";
  EXPECT_THAT(book_->warnings(), IsEmpty());
}

TEST_F(CurveJoinTest, AScriptThatDiedInItsFirstStepsResumes) {
  Log(0, {{"lr", 0.001}});
  LogReturns(1, 1);
  Attempt();
  Log(0, {{"lr", 0.001}});
  LogReturns(2, 5);
  EXPECT_EQ(Curve("return"), Straight(1, 5));
}

TEST_F(CurveJoinTest, AnAttemptThatReportsOnlySettingsKeepsTheCurve) {
  Log(0, {{"lr", 0.001}});
  LogReturns(1, 45);
  Attempt();
  Log(0, {{"lr", 0.002}});
  book_->Stop();
  EXPECT_EQ(Curve("return"), Straight(1, 45));
  EXPECT_EQ(book_->Result().iterations, 46u);
  EXPECT_EQ(book_->Result().training.episode_return->mean, 43.5) << "the last tenth of 45";
}

TEST_F(CurveJoinTest, RenamedMetricsResumeAtTheFirstStep) {
  LogReturns(1, 45);
  Attempt();
  for (uint64_t step = 41; step <= 120; ++step) Log(step, {{"episode_return", 1}});
  EXPECT_EQ(Curve("return"), Straight(1, 40));
  EXPECT_EQ(Curve("episode_return").size(), 80u);
}

TEST_F(CurveJoinTest, ThePartsOfTheResultAreTheCurve) {
  Log(0, {{"lr", 0.001}});
  LogReturns(1, 45);
  Attempt();
  Log(0, {{"lr", 0.002}});
  LogReturns(41, 100);
  const LoopResult rewritten = book_->Result();
  ASSERT_EQ(rewritten.metrics_parts->size(), 1u) << "the second attempt's file has all lines";
  EXPECT_EQ(rewritten.metrics_parts->front().lines, 101u);
  EXPECT_EQ(rewritten.training.episode_return->mean, 95.5);
  EXPECT_EQ(rewritten.metrics_parts->front().bytes, std::filesystem::file_size(Folder(2) / "metrics.jsonl"));
}

}  // namespace
}  // namespace backplane
