#include "command/report_book.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "record/attempt_json.hpp"
#include "record/measurements.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReportBookTest : public testing::Test {
 protected:
  ReportBookTest() { Attempt(1, false); }
  ~ReportBookTest() override { std::filesystem::remove_all(folder_); }

  ReportBook& Attempt(uint64_t number, bool resume) {
    book_.reset();
    spec_.attempt = number;
    spec_.attempt_dir = folder_ / ("attempt-" + std::to_string(number));
    spec_.checkpoint_dir = folder_ / "checkpoint";
    spec_.resume = resume;
    std::filesystem::create_directories(spec_.attempt_dir);
    book_.emplace(spec_, &status_);
    book_->Start();
    return *book_;
  }

  // Names and numbers of the attempt, as the store reads them.
  std::map<std::string, std::vector<double>> Series(uint64_t attempt = 1) const {
    std::map<std::string, std::vector<double>> series;
    for (const IterationValue& one : ReadIterations(folder_ / ("attempt-" + std::to_string(attempt))))
      series[one.name].push_back(one.value);
    return series;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("report_book_" + std::to_string(getpid()));
  TrialSpec spec_;
  StatusWriter status_{""};
  std::optional<ReportBook> book_;
};

TEST_F(ReportBookTest, UsesTheNamesOfPluginMeasures) {
  book_->Add({100, {{"return", 1}, {"ep/length", 20}, {"eval/return", 3}, {"eval/length", 4}, {"train/loss", 0.5}}});
  book_->Add({200, {{"return", 2}, {"SPS", 1000}, {"episodes", 7}, {"sampling_sps", 5}}});
  const auto series = Series();
  EXPECT_THAT(series.at("return"), ElementsAre(1, 2));
  EXPECT_THAT(series.at("ep/length"), ElementsAre(20));
  EXPECT_THAT(series.at("eval/return"), ElementsAre(3));
  EXPECT_THAT(series.at("eval/length"), ElementsAre(4));
  EXPECT_THAT(series.at("train/loss"), ElementsAre(0.5));
  EXPECT_THAT(series.at("env_steps"), ElementsAre(100, 200));
  EXPECT_THAT(series.at("episodes"), ElementsAre(7));
  EXPECT_EQ(series.at("sps").back(), 1000);
  EXPECT_EQ(status_.data().iteration, 2u);
  EXPECT_EQ(status_.data().env_steps, 200u);
  EXPECT_EQ(status_.data().episode_return, 2);
  EXPECT_TRUE(book_->warnings().empty());
}

TEST_F(ReportBookTest, ResultCoversTheLastTenth) {
  for (int i = 1; i <= 100; ++i) book_->Add({std::nullopt, {{"return", i}, {"eval/return", i}}});
  const LoopResult result = book_->Result();
  EXPECT_EQ(result.iterations, 100u);
  EXPECT_EQ(result.training.episode_return->mean, 95.5);
  EXPECT_EQ(result.evaluation->episode_return->mean, 100) << "the last evaluation";
  EXPECT_EQ(result.env_steps, std::nullopt);
  EXPECT_EQ(result.sps, std::nullopt);
}

TEST_F(ReportBookTest, SpeedFollowsFromSteps) {
  book_->Add({1000, {{"x", 1}}});
  usleep(20'000);
  book_->Add({3000, {{"x", 1}}});
  const double sps = *book_->Result().sps;
  EXPECT_GT(sps, 2000 / 2.0);
  EXPECT_LT(sps, 2000 / 0.02);
}

TEST_F(ReportBookTest, WarnsOncePerInvalidName) {
  for (int i = 0; i < 3; ++i) book_->Add({1, {{"t", 1}, {"", 2}, {"a\nb", 3}, {std::string(300, 'x'), 4}, {"fine", 5}}});
  EXPECT_EQ(book_->warnings().size(), 4u);
  EXPECT_THAT(book_->warnings(),
              testing::Contains("the command reports 't': recorded as 'reported/t', because the host measures 't' itself"));
  EXPECT_EQ(Series().at("fine").size(), 3u);
  EXPECT_THAT(Series().at("reported/t"), ElementsAre(1, 1, 1));
  EXPECT_EQ(Series().size(), 5u) << "and env_steps, iteration_s, t";
}

TEST_F(ReportBookTest, AttemptResumesAfterTheKeptReports) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  EXPECT_EQ(second.SpentNow().iterations, 10u);
  second.Add({700, {{"return", 70}}});  // resumed from a checkpoint at 600
  second.Add({800, {{"return", 80}}});
  EXPECT_EQ(second.SpentNow().iterations, 8u);
  LoopResult result = second.Result();
  ASSERT_EQ(result.metrics_parts->size(), 2u);
  EXPECT_EQ((*result.metrics_parts)[0].lines, 6u);
  EXPECT_EQ((*result.metrics_parts)[1].lines, 2u);
  EXPECT_EQ(result.training.episode_return->mean, 80);
  for (int i = 9; i <= 20; ++i) second.Add({100 * i, {{"return", 10 * i}}});
  EXPECT_EQ(second.Result().training.episode_return->mean, 195) << "the last tenth of 20, as without an interruption";
  ReportBook& third = Attempt(3, true);
  third.Add({2100, {{"return", 210}}});
  result = third.Result();
  EXPECT_EQ(result.iterations, 21u);
  EXPECT_EQ(result.metrics_parts->size(), 3u);
}

TEST_F(ReportBookTest, RestartedAttemptCountsFromZero) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  second.Add({100, {{"return", 1}}});
  EXPECT_EQ(second.Result().iterations, 1u);
  EXPECT_EQ(second.Result().metrics_parts->size(), 1u);
  ReportBook& third = Attempt(3, false);  // its checkpoint folder is empty
  third.Add({500, {{"return", 1}}});
  EXPECT_EQ(third.Result().iterations, 1u);
}

TEST_F(ReportBookTest, AttemptWithoutReportsKeepsTheProgress) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  second.Stop();
  EXPECT_EQ(second.Result().iterations, 10u);
  EXPECT_EQ(second.Result().env_steps, 1000u);
  EXPECT_EQ(second.Result().training.episode_return->mean, 10);
  EXPECT_EQ(second.Result().metrics_parts->front().lines, 10u);
}

TEST_F(ReportBookTest, AttemptWithoutStepsResumesAfterTheLastReport) {
  for (int i = 1; i <= 3; ++i) book_->Add({std::nullopt, {{"loss", i}}});
  ReportBook& second = Attempt(2, true);
  second.Add({std::nullopt, {{"loss", 4}}});
  EXPECT_EQ(second.Result().iterations, 4u);
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

class DivergenceTest : public ReportBookTest {
 protected:
  // Adds reports of one metric, one value each.
  void Report(const std::string& name, const std::vector<double>& values) {
    for (const double value : values) book_->Add({std::nullopt, {{name, value}}});
  }
  static std::vector<double> Times(size_t n, double value) { return std::vector<double>(n, value); }
  static std::vector<double> Joined(std::vector<double> first, const std::vector<double>& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
  }
};

TEST_F(DivergenceTest, NeedsAFiniteValueBeforeAndNoneInTheLastTenth) {
  Report("loss", Joined(Times(90, 1), Times(9, kNaN)));
  EXPECT_EQ(book_->Divergence(), "diverged: 'loss' was finite before, but is NaN or infinite in its last 9 of 99 reports");
  Report("loss", {kNaN});
  EXPECT_THAT(book_->Divergence(), HasSubstr("last 10 of 100 reports"));
  Report("loss", {1});
  EXPECT_EQ(book_->Divergence(), "");
  Report("loss", Times(9, kNaN));
  EXPECT_EQ(book_->Divergence(), "") << "the tenth is 11 reports now";
  Report("loss", Times(2, kInf));
  EXPECT_NE(book_->Divergence(), "");
}

TEST_F(DivergenceTest, NeedsThreeReports) {
  Report("return", {1, kNaN, -kInf});
  EXPECT_EQ(book_->Divergence(), "");
  Report("return", {kInf});
  EXPECT_THAT(book_->Divergence(), HasSubstr("'return' was finite before, but is NaN or infinite in its last 3 of 4 reports"));
}

TEST_F(DivergenceTest, CountsTheReportsThatHaveTheMetric) {
  for (int i = 0; i < 100; ++i) {
    std::map<std::string, double> values = {{"return", 1}};
    if (i % 20 == 0) values["eval/return"] = i < 40 ? 1 : kNaN;  // 5 times
    book_->Add({std::nullopt, values});
  }
  EXPECT_THAT(book_->Divergence(),
              HasSubstr("'eval/return' was finite before, but is NaN or infinite in its last 3 of 5 reports"));
}

TEST_F(DivergenceTest, NeverFiniteIsAWarningAndNoValue) {
  Report("return", Times(100, kNaN));
  EXPECT_EQ(book_->Divergence(), "");
  EXPECT_THAT(book_->warnings(), ElementsAre("metric 'return' never had a finite value, so it has no result\n(100 reports)"));
  const Spread value = *book_->Result().training.episode_return;
  EXPECT_TRUE(std::isnan(*value.mean));
  Report("return", {3});
  EXPECT_TRUE(book_->warnings().empty());
}

TEST_F(DivergenceTest, IsDecidedByReturnsAndLossesOnly) {
  for (const char* name : {"return", "eval/return", "loss", "train/loss", "value_loss", "a/b/loss"}) {
    Attempt(1, false);
    std::filesystem::remove(folder_ / "attempt-1/metrics.jsonl");
    Report(name, {1, kNaN, kNaN, kNaN});
    EXPECT_NE(book_->Divergence(), "") << name;
  }
  for (const char* name : {"losses", "loss_scale", "floss", "ep/length", "eval/length", "reward", "Loss"}) {
    Attempt(1, false);
    Report(name, {1, kNaN, kNaN, kNaN});
    EXPECT_EQ(book_->Divergence(), "") << name;
  }
}

TEST_F(DivergenceTest, TheValueIsOfTheFiniteReportsOfTheTenth) {
  std::vector<double> values = Times(100, 10);
  values[95] = kNaN, values[97] = 16;
  Report("return", values);
  Report("ep/length", Joined(Times(5, kNaN), Times(95, 4)));
  const LoopResult result = book_->Result();
  EXPECT_DOUBLE_EQ(*result.training.episode_return->mean, (8 * 10 + 16) / 9.0);
  EXPECT_EQ(result.training.episode_return->n, 9u);
  EXPECT_EQ(result.training.metrics.at("ep/length").mean, 4) << "no NaN in the tenth";
  EXPECT_TRUE(book_->warnings().empty());
}

TEST_F(DivergenceTest, AFewReportsHaveAWindowOfThree) {
  Report("return", {1, 2, 3, 4, kNaN});
  EXPECT_EQ(book_->Result().training.episode_return->mean, 3.5);
  Report("eval/return", {1, 2, kNaN});
  EXPECT_EQ(book_->Result().evaluation->episode_return->mean, 1.5);
  Report("eval/return", {7});
  EXPECT_EQ(book_->Result().evaluation->episode_return->mean, 7) << "the last evaluation";
}

TEST_F(DivergenceTest, ASpeedOrAStepThatIsNotFiniteCostsNothing) {
  book_->Add({100, {{"SPS", 50}, {"x", 1}}});
  book_->Add({200, {{"SPS", 100}, {"x", 1}}});
  book_->Add({300, {{"SPS", kNaN}, {"episodes", kNaN}, {"env_steps", kInf}}});
  EXPECT_EQ(book_->Result().sps, 100);
  EXPECT_EQ(book_->Result().env_steps, 300u);
}

TEST_F(DivergenceTest, SpansAttempts) {
  for (int i = 1; i <= 20; ++i) book_->Add({100 * i, {{"loss", i <= 18 ? 1 : kNaN}, {"return", 1}}});
  EXPECT_EQ(book_->Divergence(), "");
  ReportBook& second = Attempt(2, true);
  second.Add({2100, {{"loss", kNaN}}});
  EXPECT_THAT(second.Divergence(), HasSubstr("in its last 3 of 21 reports")) << "it was finite in the first attempt";
  ReportBook& third = Attempt(3, true);  // from a checkpoint at 1800, before the NaN
  third.Add({1900, {{"loss", 1}}});
  third.Add({2000, {{"loss", kNaN}}});
  EXPECT_EQ(third.Divergence(), "");
  ReportBook& fourth = Attempt(4, true);
  fourth.Stop();
  EXPECT_EQ(fourth.Divergence(), "");
}

}  // namespace
}  // namespace backplane
