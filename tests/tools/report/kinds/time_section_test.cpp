// Sections about time, in both kinds of report.
#include "kinds/time_section.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::BlocksOf;
using test_support::Context;
using test_support::FigureOf;
using test_support::NumberAt;
using test_support::Set;
using test_support::Single;
using test_support::TableOf;
using test_support::Trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrialData Timed(uint64_t runners, uint64_t envs, double environment, double update, double unnamed) {
  TrialData trial = Trial(runners, envs, 1000);
  for (const auto& [name, value] : std::map<std::string, double>{{"environment_pct", environment},
                                                                 {"update_pct", update},
                                                                 {"idle_pct", 100 - environment - update - unnamed / 2},
                                                                 {"unnamed_pct", unnamed / 2},
                                                                 {"unnamed_control_pct", unnamed},  // one of two threads
                                                                 {"environment_s", environment / 10},
                                                                 {"environment_cpu_pct", 98},
                                                                 {"update_cpu_pct", 40}})
    trial.measures["time/" + name] = Single(value);
  return trial;
}

TEST(TimeSection, BothKindsOfReportHaveIt) {
  const ResultSet set = Set({Timed(1, 1, 60, 20, 0.5), Timed(2, 1, 40, 30, 3)});
  for (const Document& document :
       {ParallelEfficiencyReport({set}, Context("parallel_efficiency")), ComparisonReport({set}, Context("comparison"))}) {
    SCOPED_TRACE(document.kind);
    const Table& shares = TableOf(document, "time");
    ASSERT_EQ(shares.rows.size(), 2u);
    EXPECT_EQ(NumberAt(shares, 0, "environment_pct"), 60);
    EXPECT_EQ(NumberAt(shares, 1, "update_pct"), 30);
    EXPECT_EQ(NumberAt(shares, 0, "environment_s"), 6);
    EXPECT_EQ(NumberAt(TableOf(document, "time_cpu"), 0, "update_cpu_pct"), 40);
    EXPECT_EQ(NumberAt(TableOf(document, "phases"), 0, "env_step"), 60);
    EXPECT_THAT(shares.notes.back(), HasSubstr("More than 2 % of the main thread's time is outside all phases"));
    EXPECT_THAT(shares.notes.back(), HasSubstr("(3.0 %)"));
    EXPECT_THAT(RenderText(document), HasSubstr("no GPU data"));
    EXPECT_TRUE(std::any_of(document.figures.begin(), document.figures.end(),
                            [](const Figure& figure) { return figure.name == "time_shares"; }));
  }
}

TEST(TimeSection, UnnamedTimeWithinTheLimitIsNotWorthASentence) {
  const Document document = ComparisonReport({Set({Timed(1, 1, 60, 20, 2)})}, Context("comparison"));
  EXPECT_EQ(TableOf(document, "time").notes.size(), 1u);
}

TEST(TimeSection, HasATableOfMeasuredGpuUse) {
  TrialData trial = Timed(1, 1, 60, 20, 0);
  trial.measures["time/update_gpu_pct"] = Single(88);
  const Document document = ComparisonReport({Set({trial})}, Context("comparison"));
  EXPECT_EQ(NumberAt(TableOf(document, "time_gpu"), 0, "update_gpu_pct"), 88);
  EXPECT_THAT(RenderText(document), ::testing::Not(HasSubstr("no GPU data")));
}

TEST(TimeSection, ATraceThatLiesThereIsNamed) {
  const std::filesystem::path out = std::filesystem::path(::testing::TempDir()) / "time_section_trace";
  std::filesystem::remove_all(out);
  TrialData trial = Timed(1, 1, 60, 20, 0);
  trial.out = out;
  const auto text = [&] {
    return BlocksOf<Paragraph>(ComparisonReport({Set({trial})}, Context("comparison")), "phases").back().text;
  };
  EXPECT_THAT(text(), HasSubstr("recorded no single spans"));
  const std::filesystem::path attempt = out / "trials" / trial.trial_id / "attempt-1";
  std::filesystem::create_directories(attempt);
  std::ofstream(attempt / "trace.json") << "[]";
  EXPECT_THAT(text(), HasSubstr((attempt / "trace.json").string()));
}

TEST(TimeFigure, PartsOfABarAreTheTablesSharesInColoursOfTheirOwn) {
  const Document document = ComparisonReport({Set({Timed(1, 1, 60, 20, 0), Timed(2, 1, 40, 30, 5)})}, Context("comparison"));
  const Figure& figure = FigureOf(document, "time_shares");
  std::map<std::string, double> reached;
  std::map<std::string, int> order;
  for (const nlohmann::json& row : figure.rows) {
    reached[row["name"]] += row["value"].get<double>();
    order[row["group"]] = row["order"];
  }
  EXPECT_THAT(reached, ElementsAre(testing::Pair("runners=1 envs=1", testing::DoubleNear(100, 1e-9)),
                                   testing::Pair("runners=2 envs=1", testing::DoubleNear(100, 1e-9))));
  EXPECT_LT(order["environment"], order["update"]);
  EXPECT_LT(order["update"], order["idle"]) << "idle time comes last";
  const nlohmann::json scale = figure.panels[0]["layer"][0]["encoding"]["color"]["scale"];
  EXPECT_THAT(scale["domain"], ElementsAre("environment", "update", "unnamed", "idle"));
  EXPECT_EQ("#D0D0D0", scale["range"][3]) << "grey";
}

class PhasesFigureTest : public ::testing::Test {
 protected:
  PhasesFigureTest() { std::filesystem::remove_all(out_); }
  ~PhasesFigureTest() override { std::filesystem::remove_all(out_); }

  // A trial with a line per second, in which the env uses this share of two threads' time.
  TrialData WithLines(uint64_t runners, const std::vector<double>& env_seconds) {
    TrialData trial = Timed(runners, 1, 60, 20, 0);
    trial.out = out_;
    const std::filesystem::path attempt = out_ / "trials" / trial.trial_id / "attempt-1";
    std::filesystem::create_directories(attempt);
    std::ofstream file(attempt / "metrics.jsonl");
    int t = 0;
    for (const double seconds : env_seconds) {
      ++t;
      file << "{\"iteration\":" << t << ",\"time\":{\"t\":" << t << ",\"phases\":{\"env_step\":" << seconds
           << ",\"idle\":" << 2 - seconds << "}}}\n";
    }
    return trial;
  }

  const std::filesystem::path out_ =
      std::filesystem::path(::testing::TempDir()) / ("phases_figure_" + std::to_string(getpid()));
};

TEST_F(PhasesFigureTest, HasAPanelForEachPointWithEnoughStretches) {
  const Document document = ComparisonReport(
      {Set({WithLines(1, {0.5, 1, 1.5}), WithLines(2, {1, 1, 1, 1}), WithLines(4, {1, 1})})}, Context("comparison"));
  const Figure& figure = FigureOf(document, "phases_over_time");
  ASSERT_EQ(2u, figure.panels.size()) << "two lines are too few";
  EXPECT_THAT(figure.alt, HasSubstr("of 2 of 3"));
  const auto rows = test_support::RowsOf(figure, "runners=1 envs=1", "stretch");
  ASSERT_EQ(3u, rows.size());
  EXPECT_EQ(1, rows[1]["x"]);
  EXPECT_EQ(2, rows[1]["x2"]);
  EXPECT_EQ(50, rows[1]["environment step"]);
  EXPECT_EQ(25, rows[2]["idle"]);
  EXPECT_EQ(3, test_support::RowsOf(figure, "runners=1 envs=1", "end").at(0)["x"]);
  const nlohmann::json colour = figure.panels[0]["layer"][0]["encoding"]["color"];
  EXPECT_THAT(colour["scale"]["domain"], ElementsAre("environment step", "idle"));
  EXPECT_THAT(colour["scale"]["range"], ElementsAre("#0072B2", "#D0D0D0"));
  EXPECT_EQ(colour, figure.panels[1]["layer"][0]["encoding"]["color"]) << "otherwise Vega warns and draws nothing";
  const auto used = BlocksOf<FigureUse>(document, "phases");
  EXPECT_EQ("phases_over_time", used.back().name);
}

TEST_F(PhasesFigureTest, IsMissingForOlderResults) {
  const Document document = ComparisonReport({Set({Timed(1, 1, 60, 20, 0)})}, Context("comparison"));
  EXPECT_THROW(FigureOf(document, "phases_over_time"), std::runtime_error);
}

TEST(TimeFigure, WithoutSharesThereIsNoFigureAndTheSectionReportsIt) {
  for (const Document& document : {ParallelEfficiencyReport({Set({Trial(1, 1, 1000)})}, Context("parallel_efficiency")),
                                   ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison"))}) {
    SCOPED_TRACE(document.kind);
    EXPECT_FALSE(std::any_of(document.figures.begin(), document.figures.end(),
                             [](const Figure& figure) { return figure.name == "time_shares"; }));
    EXPECT_TRUE(BlocksOf<FigureUse>(document, "phases").empty());
    EXPECT_THAT(RenderText(document), HasSubstr("No trial recorded the shares of the groups of phases"));
  }
}

}  // namespace
}  // namespace backplane
