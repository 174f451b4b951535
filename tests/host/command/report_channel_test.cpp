#include "command/report_channel.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace backplane {
namespace {

using ::testing::HasSubstr;

TEST(ReportLines, AreJson) {
  const auto report = ReportOfLine(R"({"step": 1000, "values": {"return": 21.5, "loss": null, "name": "x"}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, 1000u);
  EXPECT_EQ(report->values.size(), 2u);
  EXPECT_EQ(report->values.at("return"), 21.5);
  EXPECT_TRUE(std::isnan(report->values.at("loss")));
}

TEST(ReportLines, AStepMayBeAWholeNumberOfAnyKind) {
  EXPECT_EQ(ReportOfLine(R"({"step": 1e6, "values": {}})")->step, 1000000u);
  for (const char* step : {"-1", "null", "\"3\"", "1e300"})
    EXPECT_EQ(ReportOfLine(std::string(R"({"values": {}, "step": )") + step + "}")->step, std::nullopt) << step;
}

TEST(ReportLines, WhatIsNoneCostsNoReport) {
  ReportChannel channel;
  std::vector<double> returns;
  const auto use = [&](const Report& report) { returns.push_back(report.values.at("return")); };
  channel.Add("{\"values\": {\"return\": 1}}\nnot json\n{\"values\": {}}\n{\"values\"", use);
  channel.Add(": {\"return\": 2}}\n[1]\n", use);
  EXPECT_THAT(returns, testing::ElementsAre(1, 2));
  EXPECT_EQ(channel.broken_lines(), 2u);
  EXPECT_EQ(channel.first_broken(), "not json");
}

TEST(ReportLines, DeepOnesAreNoReports) {
  EXPECT_FALSE(ReportOfLine("{\"values\": " + std::string(100000, '[') + std::string(100000, ']') + "}"));
}

}  // namespace
}  // namespace backplane
