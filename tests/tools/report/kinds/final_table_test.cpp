#include "kinds/final_table.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "result_sets.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

using test_support::FailedTrial;
using test_support::Single;
using test_support::Spread;
using test_support::Trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> TitlesOf(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

ResultSet SetOf(std::vector<TrialData> trials) {
  ResultSet set;
  set.trials = std::move(trials);
  return set;
}

TEST(FinalTable, SeedsOfAPointAreOneRowWithTheIntervalOfTheirMean) {
  // Student's 97.5 % quantile of 2 degrees of freedom is 4.303, the standard deviation of 90, 100, 110 is 10.
  const Table table =
      FinalTable(SetOf({Trial(1, 1, 90, 0), Trial(2, 1, 500, 0), Trial(1, 1, 100, 1), Trial(1, 1, 110, 2)}), {});
  ASSERT_EQ(2u, table.rows.size());
  EXPECT_THAT(TitlesOf(table), ElementsAre("point", "return", "steps/s", "time")) << "all completed, which needs no column";
  const Number& speed = std::get<Number>(table.rows[0][2]);
  EXPECT_EQ(3u, speed.n);
  EXPECT_DOUBLE_EQ(100, speed.value);
  EXPECT_NEAR(100 - 4.3027 * 10 / std::sqrt(3), *speed.low, 1e-3);
}

TEST(FinalTable, TheBestIsTheFirstRow) {
  const auto with = [](int runners, int seed, double reached) {
    TrialData trial = Trial(runners, 1, 100, static_cast<uint64_t>(seed));
    trial.measures["eval/return"] = Single(reached);
    return trial;
  };
  const Table table =
      FinalTable(SetOf({with(1, 0, 1), with(1, 1, 1.1), with(2, 0, 9), with(2, 1, 9.1), with(3, 0, 9.05), with(3, 1, 9)}), {});
  ASSERT_EQ(3u, table.rows.size());
  EXPECT_DOUBLE_EQ(9.05, std::get<Number>(table.rows[0][1]).value);
  EXPECT_DOUBLE_EQ(1.05, std::get<Number>(table.rows[2][1]).value);
}

Question By(const std::string& measure, int direction, bool has_best = true) {
  Question question{MeasureOfText(measure), has_best};
  question.measure->direction = direction;
  return question;
}

// Returns 1, 9, 5 and losses 0.3, 0.2, 0.1 of three points.
ResultSet WithLosses() {
  std::vector<TrialData> trials;
  for (uint64_t i = 0; i < 3; ++i) {
    trials.push_back(Trial(i + 1, 1, 100));
    trials.back().measures["return"] = Single(std::vector<double>{1, 9, 5}[i]);
    trials.back().measures["loss"] = Single(std::vector<double>{0.3, 0.2, 0.1}[i]);
    trials.back().curves["train/kl"] = {{1, 0, 0, std::vector<double>{7, 8, 6}[i]}};
  }
  return SetOf(trials);
}

std::vector<std::string> Order(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(std::get<std::string>(row[0]));
  return names;
}

TEST(FinalTable, IsInTheOrderOfTheMeasureThatDecides) {
  EXPECT_THAT(Order(FinalTable(WithLosses(), {})), ElementsAre("runners=2", "runners=3", "runners=1")) << "by return";
  const Table by_loss = FinalTable(WithLosses(), {}, By("loss", -1));
  EXPECT_THAT(Order(by_loss), ElementsAre("runners=3", "runners=2", "runners=1"));
  EXPECT_THAT(TitlesOf(by_loss), ElementsAre("point", "loss", "return", "steps/s", "time"));
  EXPECT_THAT(Order(FinalTable(WithLosses(), {}, By("train/kl@last", 1))), ElementsAre("runners=2", "runners=1", "runners=3"));
  EXPECT_THAT(Order(FinalTable(WithLosses(), {}, By("return - 100 * loss", 1))),
              ElementsAre("runners=3", "runners=2", "runners=1"))
      << "-29, -11, -5";
}

TEST(FinalTable, KeepsThePlansOrderForRandomActions) {
  EXPECT_THAT(Order(FinalTable(WithLosses(), {}, By("return", 1, /*has_best=*/false))),
              ElementsAre("runners=1", "runners=2", "runners=3"));
}

TEST(FinalTable, EvaluationReplacesTrainingMeasures) {
  TrialData trial = Trial(1, 1, 100);
  trial.measures["ep/success_rate"] = Spread(0.5, 0.1, 20, "episodes");
  trial.measures["eval/success_rate"] = Spread(0.9, 0.1, 20, "episodes");
  trial.measures["eval/return"] = Spread(7, 1, 20, "episodes");
  trial.measures["train/loss"] = Single(0.25);
  const Table table = FinalTable(SetOf({trial}), {"ep/success_rate", "train/loss", "nowhere"});
  EXPECT_THAT(TitlesOf(table), ElementsAre("point", "eval/return", "eval/success_rate", "train/loss", "steps/s", "time"));
  EXPECT_DOUBLE_EQ(7, std::get<Number>(table.rows[0][1]).value);
  EXPECT_DOUBLE_EQ(0.9, std::get<Number>(table.rows[0][2]).value);
}

TEST(FinalTable, UnfinishedTrialsShowTheirStateWithoutNumbers) {
  TrialData stopped = Trial(2, 1, 100);
  stopped.state = TrialState::kPlanned;
  stopped.measures["iterations"] = Single(3);
  const Table table = FinalTable(
      SetOf({Trial(1, 1, 100, 0), FailedTrial(1, 1, "FAILED", "nan", "return is NaN"), Trial(1, 1, 100, 2), stopped}), {});
  EXPECT_EQ("2 COMPLETED, 1 FAILED", std::get<std::string>(table.rows[0][1]));
  EXPECT_EQ(2u, std::get<Number>(table.rows[0][3]).n);
  EXPECT_EQ("PLANNED, stopped after iteration 3", std::get<std::string>(table.rows[1][1]));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[1][3]));
}

TEST(FinalTable, TheFirstRowHasAllItsRunsAndFiniteValues) {
  const auto with = [](uint64_t runners, uint64_t seed, double value) {
    TrialData trial = Trial(runners, 1, 100, seed);
    trial.measures["return"] = Single(value);
    return trial;
  };
  TrialData never = with(8, 0, 0), diverged = with(4, 1, 900), failed = with(2, 1, 900);
  never.measures.erase("return");
  never.not_finite["return"] = {0, 10, false};
  diverged.measures["return"] = Single(NAN);
  failed.state = TrialState::kFailed;
  const Table table =
      FinalTable(SetOf({with(1, 0, 5), with(1, 1, 6), with(2, 0, 900), failed, with(4, 0, 900), diverged, never}), {});
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "runners=1");
  EXPECT_EQ(std::get<std::string>(table.rows[3][2]), "not finite");
}

TEST(FinalTable, OnANarrowScreenTheLastColumnsGiveWay) {
  Table table = FinalTable(SetOf({Trial(1, 1, 18968)}), {});
  EXPECT_THAT(FormatScreenTable(table, 200), HasSubstr("time"));
  const std::string narrow = FormatScreenTable(table, 50);
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 52u) << narrow;  // ± has two bytes
  EXPECT_THAT(narrow, HasSubstr("to fit the width: time."));
  EXPECT_THAT(FormatScreenTable(table, 40), HasSubstr("100.0 ± 5.0"));
}

}  // namespace
}  // namespace backplane
