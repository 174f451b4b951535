#include "command/report_book.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

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

TEST_F(ReportBookTest, NamesAreThoseOfPluginsMeasures) {
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

TEST_F(ReportBookTest, TheResultIsOfTheLastTenth) {
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

TEST_F(ReportBookTest, NamesThatCannotBeAreSaidOnce) {
  for (int i = 0; i < 3; ++i) book_->Add({1, {{"t", 1}, {"", 2}, {"a\nb", 3}, {std::string(300, 'x'), 4}, {"fine", 5}}});
  EXPECT_EQ(book_->warnings().size(), 4u);
  EXPECT_THAT(book_->warnings(), testing::Contains(HasSubstr("reports 't': the host itself measures what it calls so")));
  EXPECT_EQ(Series().at("fine").size(), 3u);
  EXPECT_EQ(Series().size(), 4u) << "and env_steps, iteration_s, t";
}

TEST_F(ReportBookTest, AnAttemptGoesOnBehindWhatWasNotLost) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  EXPECT_EQ(second.SpentNow().iterations, 10u);
  second.Add({700, {{"return", 70}}});  // from a checkpoint at 600
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

TEST_F(ReportBookTest, AnAttemptThatBeginsAnewCountsAnew) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  second.Add({100, {{"return", 1}}});
  EXPECT_EQ(second.Result().iterations, 1u);
  EXPECT_EQ(second.Result().metrics_parts->size(), 1u);
  ReportBook& third = Attempt(3, false);  // its checkpoint folder is empty
  third.Add({500, {{"return", 1}}});
  EXPECT_EQ(third.Result().iterations, 1u);
}

TEST_F(ReportBookTest, AnAttemptThatReportsNothingHasComeNoFurther) {
  for (int i = 1; i <= 10; ++i) book_->Add({100 * i, {{"return", i}}});
  ReportBook& second = Attempt(2, true);
  second.Stop();
  EXPECT_EQ(second.Result().iterations, 10u);
  EXPECT_EQ(second.Result().env_steps, 1000u);
  EXPECT_EQ(second.Result().training.episode_return->mean, 10);
  EXPECT_EQ(second.Result().metrics_parts->front().lines, 10u);
}

TEST_F(ReportBookTest, WithoutStepsAnAttemptGoesOnBehindTheLastReport) {
  for (int i = 1; i <= 3; ++i) book_->Add({std::nullopt, {{"loss", i}}});
  ReportBook& second = Attempt(2, true);
  second.Add({std::nullopt, {{"loss", 4}}});
  EXPECT_EQ(second.Result().iterations, 4u);
}

}  // namespace
}  // namespace backplane
