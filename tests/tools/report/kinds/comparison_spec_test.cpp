#include "kinds/comparison_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Read {
  ComparisonSpec spec;
  std::vector<ReportError> errors;
};

Read ReadReport(const char* key, const json& value) {
  ReportSection config;
  if (std::string(key) == "columns") config.columns = value;
  if (std::string(key) == "figures") config.figures = value;
  if (std::string(key) == "select") config.select = value;
  Read read;
  read.spec = ReadComparisonSpec(config, &read.errors);
  return read;
}

std::string FirstError(const char* key, const json& value) {
  const Read read = ReadReport(key, value);
  return read.errors.empty() ? "none" : read.errors[0].message;
}

TEST(ComparisonSpec, ColumnsHaveDefaults) {
  const Read read = ReadReport("columns", nullptr);
  EXPECT_TRUE(read.errors.empty());
  ASSERT_EQ(5u, read.spec.columns.size());
  EXPECT_EQ("SPS", read.spec.columns[0].title);
  EXPECT_EQ(1, read.spec.columns[0].direction);
  EXPECT_EQ(-1, read.spec.columns[1].direction);
}

TEST(ComparisonSpec, ASlashWithoutBlanksBelongsToTheName) {
  const Read read = ReadReport("columns", {"100 * eval/rouge1 / minutes"});
  ASSERT_TRUE(read.errors.empty());
  EXPECT_EQ((std::vector<std::string>{"eval/rouge1", "minutes"}), read.spec.columns[0].expression.paths());
}

TEST(ComparisonSpec, AMeasureMayHaveAFormat) {
  const Read read = ReadReport(
      "columns", {{{"measure", "a / b"}, {"title", "ratio"}, {"unit", "1/min"}, {"direction", "down"}, {"digits", 2}}});
  ASSERT_TRUE(read.errors.empty());
  EXPECT_EQ("ratio", read.spec.columns[0].title);
  EXPECT_EQ("1/min", read.spec.columns[0].unit);
  EXPECT_EQ(-1, read.spec.columns[0].direction);
  EXPECT_EQ(2, read.spec.columns[0].digits);
}

TEST(ComparisonSpec, FiguresOfEachKind) {
  const Read read = ReadReport("figures", {{{"scatter", {{"file", "a.png"}, {"x", "rss_peak_mb"}, {"y", "SPS"}}}},
                                           {{"curves", {{"file", "b.png"}, {"y", {"train/loss", "return"}}, {"x", "time_s"}}}},
                                           {{"bars", {{"file", "c.png"}, {"y", "SPS"}}}},
                                           {{"table", {{"file", "d.png"}}}}});
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].message;
  ASSERT_EQ(4u, read.spec.figures.size());
  EXPECT_EQ(FigureSpec::Kind::kScatter, read.spec.figures[0].kind);
  ASSERT_EQ(2u, read.spec.figures[1].curves.size());
  EXPECT_EQ("return", read.spec.figures[1].curves[1].name);
  EXPECT_EQ("time_s", read.spec.figures[1].curves[1].against);
  EXPECT_EQ(1u, read.spec.figures[2].y.size());
}

TEST(ComparisonSpec, ACurveMayHaveAnAxisOfItsOwn) {
  const json own = {{"name", "train/loss"}, {"x", "time_s"}};
  const Read read = ReadReport("figures", {{{"curves", {{"file", "b.png"}, {"y", {"train/loss", own}}}}}});
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].message;
  EXPECT_EQ("env_steps", read.spec.figures[0].curves[0].against);
  EXPECT_EQ("time_s", read.spec.figures[0].curves[1].against);
}

TEST(ComparisonSpec, AReducedCurveIsAMeasure) {
  const Read read = ReadReport(
      "columns", {"iteration_s@max", "train/loss@seconds_to_min", {{"measure", "a@last - b@first"}, {"detail", true}}});
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].message;
  EXPECT_EQ("s", read.spec.columns[0].unit);
  EXPECT_EQ(-1, read.spec.columns[0].direction);
  EXPECT_EQ(-1, read.spec.columns[1].direction);
  EXPECT_EQ("s", read.spec.columns[1].unit);
  EXPECT_FALSE(read.spec.columns[1].detail);
  EXPECT_TRUE(read.spec.columns[2].detail);
  EXPECT_EQ((std::vector<std::string>{"a@last", "b@first"}), read.spec.columns[2].expression.paths());
}

TEST(ComparisonSpec, SelectionFollowsTheMetricsDirection) {
  EXPECT_FALSE(ReadReport("select", {{"metric", "wall_s"}}).spec.selections.at(0).maximize());
  EXPECT_TRUE(ReadReport("select", {{"metric", "SPS"}}).spec.selections.at(0).maximize());
  const Read read =
      ReadReport("select", {{"metric", "SPS"}, {"direction", "minimize"}, {"write", "best.yaml"}, {"where", "x < 3"}});
  ASSERT_TRUE(read.errors.empty());
  EXPECT_FALSE(read.spec.selections.at(0).maximize());
  EXPECT_EQ("best.yaml", read.spec.selections.at(0).write);
  EXPECT_EQ("x < 3", read.spec.selections.at(0).where->text());
}

TEST(ComparisonSpec, SeveralSelectionsHaveFilesOfTheirOwn) {
  const Read read = ReadReport("select", {{{"metric", "SPS"}}, {{"metric", "rss_peak_mb"}, {"write", "least.yaml"}}});
  ASSERT_TRUE(read.errors.empty());
  ASSERT_EQ(2u, read.spec.selections.size());
  EXPECT_FALSE(read.spec.selections[1].maximize());
  EXPECT_EQ("report.select: entry 2: write: another selection already writes 'selected.yaml'",
            FirstError("select", {{{"metric", "SPS"}}, {{"metric", "wall_s"}}}));
}

TEST(ComparisonSpec, MistakesNameTheirEntry) {
  EXPECT_EQ("report.columns: expected a list of measures, got \"SPS\"", FirstError("columns", "SPS"));
  EXPECT_EQ("report.columns: entry 2: 'SPS +', column 6: in the expression: expected a value, got the end",
            FirstError("columns", {"SPS", "SPS +"}));
  EXPECT_EQ("report.columns: entry 1: unknown key 'mesure'; did you mean 'measure'?",
            FirstError("columns", {{{"mesure", "SPS"}}}));
  EXPECT_EQ("report.columns: entry 1: direction: expected up or down, got 'left'",
            FirstError("columns", {{{"measure", "SPS"}, {"direction", "left"}}}));
  EXPECT_EQ("report.columns: entry 1: digits: expected a whole number from 1 to 15, got 0",
            FirstError("columns", {{{"measure", "SPS"}, {"digits", 0}}}));
  EXPECT_EQ("report.figures: entry 1: file: expected a name that ends with .png, got '../a.png'",
            FirstError("figures", {{{"table", {{"file", "../a.png"}}}}}));
  EXPECT_THAT(FirstError("columns", {"SPS", "train/loss@lats"}), HasSubstr("entry 2: 'train/loss@lats': '@lats' is none of"));
  EXPECT_EQ("report.columns: entry 1: detail: expected true or false, got 3",
            FirstError("columns", {{{"measure", "SPS"}, {"detail", 3}}}));
  EXPECT_EQ("report.figures: entry 1: x: expected env_steps, iteration, time_s or NAME@sum for curves, got 'hours'",
            FirstError("figures", {{{"curves", {{"file", "a.png"}, {"y", {{{"name", "return"}, {"x", "hours"}}}}}}}}));
  EXPECT_EQ("report.figures: entry 1: missing key 'x'",
            FirstError("figures", {{{"scatter", {{"file", "a.png"}, {"y", "SPS"}}}}}));
  EXPECT_EQ("report.figures: entry 2: file: another figure already writes 'a.png'",
            FirstError("figures", {{{"table", {{"file", "a.png"}}}}, {{"table", {{"file", "a.png"}}}}}));
  for (const char* bad : {".a.png", "a\nb.png", "a\\b.png", ".png"})
    EXPECT_NE("none", FirstError("figures", {{{"table", {{"file", bad}}}}})) << bad;
  EXPECT_EQ("report.select: missing key 'metric'", FirstError("select", {{"write", "a.yaml"}}));
  EXPECT_EQ("report.select: write: expected a name that ends with .yaml, got 'a/b.yaml'",
            FirstError("select", {{"metric", "SPS"}, {"write", "a/b.yaml"}}));
}

}  // namespace
}  // namespace backplane
