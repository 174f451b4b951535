#include "command/output_scan.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<Report> Scan(const json& metrics, const std::vector<std::string>& pieces) {
  LineMeasures measures(metrics);
  OutputScan scan(&measures);
  std::vector<Report> reports;
  const auto use = [&](const Report& report) { reports.push_back(report); };
  for (const std::string& piece : pieces) scan.Add(piece, use);
  scan.Finish(use);
  return reports;
}

TEST(OutputScan, MatchesOfALineAreOneReport) {
  const auto reports = Scan({{"return", "ret=([0-9]+)"}, {"length", "len=([0-9]+)"}}, {"ret=1 le", "n=2\nnothing\nlen=3"});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_THAT(reports[0].values, ElementsAre(Pair("length", 2), Pair("return", 1)));
  EXPECT_THAT(reports[1].values, ElementsAre(Pair("length", 3)));
}

TEST(OutputScan, UsesTheLastPrintedStep) {
  const auto reports =
      Scan({{"return", "ret=([0-9]+)"}, {"step", "step=([0-9]+)"}}, {"ret=1\nstep=10\nret=2\nstep=20 ret=3 step=30 ret=4\n"});
  ASSERT_EQ(reports.size(), 4u);
  EXPECT_EQ(reports[0].step, std::nullopt);
  EXPECT_EQ(reports[1].step, 10u);
  EXPECT_EQ(reports[2].step, 20u);
  EXPECT_EQ(reports[3].step, 30u) << "the second of both on one line";
}

TEST(OutputScan, ReadsNotFiniteWordsAndLeavesOutTexts) {
  LineMeasures measures({{"loss", "loss=(\\S+)"}, {"return", "return=(\\S+)"}});
  std::vector<Report> reports;
  for (const char* line : {"loss=nan, return=1", "loss=-inf", "loss=NaN.", "loss=n/a return=2", "loss=nano", "loss=0.5"})
    measures.Use(line, [&](const Report& report) { reports.push_back(report); });
  ASSERT_EQ(reports.size(), 5u) << "a line with only text is no report";
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(reports[i].values.at("loss"))) << i;
  EXPECT_THAT(reports[3].values, ElementsAre(Pair("return", 2)));
  EXPECT_THAT(reports[4].values, ElementsAre(Pair("loss", 0.5)));
  EXPECT_THAT(measures.Warnings(),
              ElementsAre(testing::HasSubstr("metric 'loss': expected numbers; other values are ignored\nthe first one: n/a")));
}

TEST(OutputScan, KeepsTheLastLines) {
  LineMeasures none(nullptr);
  OutputScan scan(&none);
  const auto use = [](const Report&) {};
  for (int i = 0; i < 5000; ++i) scan.Add("line " + std::to_string(i) + "\n", use);
  scan.Add("\n  \nthe end", use);
  EXPECT_THAT(scan.LastLinesOf(3), ElementsAre("line 4998", "line 4999", "the end"));
  scan.Add(std::string(1 << 20, 'x') + "\nlast\n", use);
  EXPECT_EQ(scan.LastLinesOf(1).front(), "last");
}

}  // namespace
}  // namespace backplane
