// The measure that decides the first sentence of a report.
#include "kinds/question.hpp"

#include <gtest/gtest.h>

#include "kinds/build_report.hpp"
#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Context;
using test_support::Set;
using test_support::Single;
using test_support::TableOf;
using test_support::Trial;

// Two learning rates: the first is faster, the second earns more.
class QuestionTest : public ::testing::Test {
 protected:
  QuestionTest() : set_(Set({Trial(1, 1, 2000), Trial(1, 1, 1000)})) {
    for (size_t i = 0; i < 2; ++i) {
      TrialData& trial = set_.trials[i];
      trial.point = trial.point_id = i == 0 ? "lr=0.1" : "lr=0.01";
      trial.trial_id = trial.point;
      trial.values = {{"learner.options.lr", i == 0 ? 0.1 : 0.01}};
      trial.measures["return"] = Single(i == 0 ? 20 : 450);
    }
  }

  Question Asked(const nlohmann::json& report) const {
    const ReportSection section = ReadTolerantly<ReportSection>(report);
    std::vector<ReportError> errors;
    return QuestionOf({set_}, Combine({set_}), section, ReadComparisonSpec(section, &errors));
  }
  std::string Decides(const nlohmann::json& report = nlohmann::json::object()) {
    const Question question = Asked(report);
    if (!question.measure) return "nothing";
    return question.measure->expression.text() + (question.measure->direction < 0 ? " down" : " up");
  }
  void Measure(const std::string& name) {
    for (TrialData& trial : set_.trials) trial.measures[name] = Single(1);
  }

  ResultSet set_;
};

TEST_F(QuestionTest, TheFileDecidesInAFixedOrder) {
  EXPECT_EQ("return up", Decides());
  Measure("eval/return");
  EXPECT_EQ("eval/return up", Decides());
  EXPECT_EQ("SPS up", Decides({{"timing", true}}));
  EXPECT_EQ("SPS up", Decides({{"kind", "parallel_efficiency"}}));
  set_.config["compare"] = {{"metric", "train/loss"}, {"direction", "down"}};
  EXPECT_EQ("train/loss down", Decides({{"timing", true}}));
  set_.study.emplace();
  set_.study->method = "tpe";
  set_.study->metric = "train/entropy";
  set_.study->maximize = false;
  EXPECT_EQ("train/entropy down", Decides({{"timing", true}}));
  EXPECT_EQ("rss_peak_mb down", Decides({{"timing", true}, {"select", {{"metric", "rss_peak_mb"}}}}));
}

TEST_F(QuestionTest, AFileThatEvaluatesAsksForThatReturn) {
  set_.config["evaluation"]["episodes"] = 10;
  EXPECT_EQ("eval/return up", Decides()) << "also if every run failed before its evaluation";
}

TEST_F(QuestionTest, WithoutAReturnAMeasureOfItsOwnDecidesElseSpeed) {
  for (TrialData& trial : set_.trials) trial.measures.erase("return");
  EXPECT_EQ("SPS up", Decides());
  Measure("loss");
  EXPECT_EQ("SPS up", Decides({{"columns", {"SPS", "loss"}}})) << "the direction of loss is unknown";
  EXPECT_EQ("loss down", Decides({{"columns", {"SPS", {{"measure", "loss"}, {"direction", "down"}}}}}));
  for (TrialData& trial : set_.trials) trial.measures = {{"wall_s", Single(3)}};
  EXPECT_EQ("wall_s down", Decides()) << "a command has no SPS";
}

// A command registers no directions.
TEST_F(QuestionTest, AnyPartOfTheFileMayGiveADirection) {
  const auto direction = [this](const nlohmann::json& report = nlohmann::json::object()) {
    return DirectionInFile("loss", ReadTolerantly<ReportSection>(report), {set_});
  };
  EXPECT_EQ(0, direction());
  EXPECT_EQ(0, direction({{"columns", {"SPS", "loss"}}}));
  EXPECT_EQ(-1, direction({{"columns", {"SPS", {{"measure", "loss"}, {"direction", "down"}}}}}));
  EXPECT_EQ(-1, direction({{"select", {{"metric", "loss"}, {"direction", "minimize"}}}}));
  set_.config["compare"] = {{"metric", "loss"}, {"direction", "down"}};
  EXPECT_EQ(-1, direction());
  set_.config["compare"] = nullptr;
  set_.study.emplace();
  set_.study->method = "tpe";
  set_.study->metric = "loss";
  set_.study->maximize = false;
  EXPECT_EQ(-1, direction());
}

TEST_F(QuestionTest, OnlySomeFilesAskForTheReturn) {
  const auto asks = [&](const nlohmann::json& report) { return AsksForReturn({set_}, ReadTolerantly<ReportSection>(report)); };
  EXPECT_TRUE(asks(nlohmann::json::object()));
  EXPECT_FALSE(asks({{"timing", true}}));
  EXPECT_FALSE(asks({{"kind", "parallel_efficiency"}}));
  EXPECT_FALSE(asks({{"select", {{"metric", "rss_peak_mb"}}}}));
  EXPECT_TRUE(asks({{"select", {{"metric", "eval/return"}}}}));
}

TEST_F(QuestionTest, IsTimedForMeasuresThatOtherProgramsChange) {
  const auto timed = [&](const char* metric) {
    return Asked({{"select", {{"metric", metric}, {"direction", "maximize"}}}}).IsTimed();
  };
  for (const char* metric : {"SPS", "wall_s", "100 * return / minutes"}) EXPECT_TRUE(timed(metric)) << metric;
  for (const char* metric : {"return", "cpu_s", "rss_peak_mb"}) EXPECT_FALSE(timed(metric)) << metric;
}

TEST_F(QuestionTest, ABusyMachineMakesOnlyTimedAnswersDoubtful) {
  for (TrialData& trial : set_.trials) {
    trial.measures["threads"] = trial.measures["learner_threads"] = Single(2);
    trial.measures["resources/run_queue_wait_pct"] = test_support::Spread(60, 1, 10, "samples");
    trial.measures["resources/psi_cpu_some_pct"] = test_support::Spread(60, 1, 10, "samples");
  }
  const auto first = [&](const char* metric) {
    ReportContext context = Context("comparison");
    context.report = ReadTolerantly<ReportSection>(
        nlohmann::json{{"kind", "comparison"}, {"select", {{"metric", metric}, {"direction", "maximize"}}}});
    return ComparisonReport({set_}, context).verdict.front();
  };
  EXPECT_TRUE(first("SPS").starts_with("Not trustworthy: the machine was busy.")) << first("SPS");
  EXPECT_NE(std::string::npos, first("SPS").find(". As measured: lr=0.1 was selected by SPS: 2,000")) << first("SPS");
  EXPECT_TRUE(first("return").starts_with("lr=0.01 was selected by return: 450")) << first("return");
}

TEST_F(QuestionTest, TheFinalTableAsksTheSameQuestion) {
  set_.config["report"]["select"] = {{"metric", "SPS"}};
  EXPECT_EQ("SPS", DecidingQuestion({set_}).measure->expression.text());
  set_.config["report"] = nlohmann::json::object();
  EXPECT_EQ("return", DecidingQuestion({set_}).measure->expression.text());
}

TEST_F(QuestionTest, AColumnLendsItsTitle) {
  const ReportSection section = ReadTolerantly<ReportSection>({{"columns", {{{"measure", "return"}, {"title", "score"}}}}});
  std::vector<ReportError> errors;
  EXPECT_EQ("score", QuestionOf({set_}, Combine({set_}), section, ReadComparisonSpec(section, &errors)).measure->title);
}

TEST_F(QuestionTest, ASweepOfLearningRatesDoesNotBeginWithSpeed) {
  EXPECT_EQ(
      "lr=0.01 leads by return: 450; the next is lr=0.1 (20), but one seed per point cannot show which is better. Higher "
      "is "
      "better.",
      FirstSentence({set_}, "backplane"));
}

TEST_F(QuestionTest, TheAnswerIsTheFirstColumnUnlessTheFileChooses) {
  Measure("train/loss");
  const nlohmann::json select = {{"select", {{"metric", "train/loss"}, {"direction", "minimize"}}}};
  EXPECT_EQ("train/loss", TableOf(ComparisonReport({set_}, Context("comparison", select)), "results").columns.at(1).title);
  nlohmann::json chosen = select;
  chosen["columns"] = {"SPS"};
  EXPECT_EQ("SPS", TableOf(ComparisonReport({set_}, Context("comparison", chosen)), "results").columns.at(1).title);
}

TEST_F(QuestionTest, AReportOfOneRunAnswersIt) {
  set_.trials.resize(1);
  set_.trials.front().values.clear();
  EXPECT_EQ("lr=0.1: return 20 over 1 episode.", FirstSentence({set_}, "backplane"));
  set_.config["report"]["select"] = {{"metric", "rss_peak_mb"}};
  EXPECT_EQ("lr=0.1: rss_peak_mb 150 MiB.", FirstSentence({set_}, "backplane"));
}

}  // namespace
}  // namespace backplane
