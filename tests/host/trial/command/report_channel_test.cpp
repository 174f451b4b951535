#include "command/report_channel.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace backplane {
namespace {

using ::testing::AllOf;
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

TEST(ReportLines, BrokenLinesLoseNoReport) {
  ReportChannel channel;
  std::vector<double> returns;
  const auto use = [&](const Report& report) { returns.push_back(report.values.at("return")); };
  channel.Add("{\"values\": {\"return\": 1}}\nnot json\n{\"values\": {}}\n{\"values\"", use);
  channel.Add(": {\"return\": 2}}\n[1]\n", use);
  EXPECT_THAT(returns, testing::ElementsAre(1, 2));
  EXPECT_EQ(channel.broken_lines(), 2u);
  EXPECT_EQ(channel.first_broken(), "not json");
}

TEST(ReportLines, RejectDeepNesting) {
  EXPECT_FALSE(ReportOfLine("{\"values\": " + std::string(100000, '[') + std::string(100000, ']') + "}"));
}

// As written by Python's json.dumps.
TEST(ReportLines, AcceptNaNAndInfinityOfPythonsJson) {
  ReportFaults faults;
  const auto report = ReportOfLine(
      R"({"step": 7, "values": {"NaN": 1.5, "a \"Infinity\" b": 2, "loss": NaN, "up": Infinity, "down": -Infinity}})", &faults);
  ASSERT_TRUE(report);
  EXPECT_TRUE(faults.bare_words);
  EXPECT_EQ(report->step, 7u);
  EXPECT_EQ(report->values.at("NaN"), 1.5) << "a name is no value";
  EXPECT_EQ(report->values.at("a \"Infinity\" b"), 2);
  for (const char* name : {"loss", "up", "down"}) EXPECT_FALSE(std::isfinite(report->values.at(name))) << name;
  for (const char* word : {"nan", "-nan", "inf", "+inf", "-INF", "\"NaN\"", "null"})
    EXPECT_TRUE(std::isnan(ReportOfLine(std::string(R"({"values": {"x": )") + word + "}}")->values.at("x"))) << word;
  for (const char* word : {"NaNs", "in", "Infinity2", "1NaN", "infinit", "nan nan"})
    EXPECT_FALSE(ReportOfLine(std::string(R"({"values": {"x": )") + word + "}}")) << word;
}

// Output of this machine's Python.
TEST(ReportLines, ReadWhatPythonWrites) {
  const std::string script =
      "import json\n"
      "n = float(\"nan\"); i = float(\"inf\")\n"
      "print(json.dumps({\"step\": 3, \"values\": {\"a\": n, \"b\": i, \"c\": -i, \"NaN, Infinity\": 0.1}}))";
  FILE* const python = popen(("python3 -c '" + script + "'").c_str(), "r");
  ASSERT_NE(python, nullptr);
  char line[512] = {};
  ASSERT_NE(fgets(line, sizeof line, python), nullptr);
  ASSERT_EQ(pclose(python), 0);
  const auto report = ReportOfLine(std::string(line, strcspn(line, "\n")));
  ASSERT_TRUE(report) << line;
  EXPECT_EQ(report->step, 3u) << line;
  EXPECT_EQ(report->values.size(), 4u) << line;
  EXPECT_EQ(report->values.at("NaN, Infinity"), 0.1) << line;
  for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(std::isfinite(report->values.at(name))) << line;
}

TEST(ReportLines, WarnsOncePerKind) {
  ReportChannel channel;
  size_t reports = 0;
  const auto use = [&](const Report&) { ++reports; };
  for (int i = 0; i < 3; ++i)
    channel.Add("{\"values\": {\"loss\": NaN}}\n{\"values\": {\"name\": \"run 1\", \"return\": " + std::to_string(i) +
                    "}}\n{\"values\": {\"name\": true, \"list\": [1]}}\nhello\n",
                use);
  EXPECT_EQ(reports, 6u) << "a report needs a number";
  EXPECT_THAT(channel.Warnings(),
              testing::UnorderedElementsAre(AllOf(HasSubstr("other lines are ignored\n3 of them"), HasSubstr("hello")),
                                            AllOf(HasSubstr("NaN and Infinity are not JSON"), HasSubstr("\n3 lines")),
                                            AllOf(HasSubstr("metric 'name': expected numbers"), HasSubstr("\"run 1\"")),
                                            HasSubstr("metric 'list'")));
}

}  // namespace
}  // namespace backplane
