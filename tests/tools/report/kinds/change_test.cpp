// Changes against a baseline, and the cases in which they are ratios.
#include "kinds/change.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::At;
using test_support::Contains;
using test_support::Context;
using test_support::FigureOf;
using test_support::NumberAt;
using test_support::RowsOf;
using test_support::Set;
using test_support::Single;
using test_support::Spread;
using test_support::TableOf;
using test_support::Trial;

TEST(Change, IsARatioIfTheBaselinesIntervalAndAllValuesAreAboveZero) {
  EXPECT_TRUE(MayBeRatios(Spread(10, 9, 5, "seeds"), {1, 20}));
  EXPECT_TRUE(MayBeRatios(Single(10), {1, 20})) << "read once: no interval";
  EXPECT_FALSE(MayBeRatios(Spread(10, 10, 5, "seeds"), {1, 20})) << "the interval reaches zero";
  EXPECT_FALSE(MayBeRatios(Spread(10, 1, 5, "iterations"), {0, 20}));
  EXPECT_FALSE(MayBeRatios(Spread(-10, 1, 5, "seeds"), {-1, -20}));
  EXPECT_TRUE(MayBeRatios(Single(10), {NAN, 20})) << "a value that is not finite is no value below zero";
}

TEST(Change, InPercentHasTheIntervalOfTheRatio) {
  const Number change = PercentChange(Spread(150, 1, 4, "seeds"), Spread(100, 1, 4, "seeds"));
  EXPECT_DOUBLE_EQ(50, change.value);
  EXPECT_LT(*change.low, 50);
  EXPECT_GT(*change.high, 50);
}

std::vector<TrialData> Seeds(uint64_t runners, const std::vector<double>& returns) {
  std::vector<TrialData> trials;
  for (size_t seed = 0; seed < returns.size(); ++seed) {
    trials.push_back(Trial(runners, 1, 1000 + static_cast<double>(seed), seed));
    trials.back().measures["return"] = Single(returns[seed]);
  }
  return trials;
}

Document Compare(const std::vector<double>& base, const std::vector<double>& point) {
  std::vector<TrialData> trials = Seeds(1, base);
  for (TrialData& trial : Seeds(2, point)) trials.push_back(std::move(trial));
  return ComparisonReport({Set(trials)}, Context("comparison", {{"columns", {"return"}}, {"baseline", "runners=1 envs=1"}}));
}

// Three seeds with a standard deviation of 10 on each side: the interval is 2.776 (4 degrees of freedom) x 10 x sqrt(2 / 3).
constexpr double kHalf = 22.67;

TEST(Change, IsADifferenceInEveryFigureAndTableIfReturnsAreBelowZero) {
  const Document document = Compare({-100, -110, -90}, {-50, -60, -40});
  const Figure& gains = FigureOf(document, "gains");
  const auto rows = RowsOf(gains, "return: more is better", "mean");
  ASSERT_EQ(1u, rows.size());
  EXPECT_DOUBLE_EQ(50, rows[0]["value"]);
  EXPECT_NEAR(50 - kHalf, rows[0]["low"], 0.01);
  EXPECT_DOUBLE_EQ(40, RowsOf(gains, "return: more is better", "one")[1]["value"].get<double>()) << "-60 less -100";
  EXPECT_THAT(gains.panels[0].dump(), testing::HasSubstr("difference from the baseline"));
  EXPECT_THAT(gains.panels[0].dump(), testing::HasSubstr(R"("values":[{"at":0.0}])"));
  const Table& change = TableOf(document, "change");
  EXPECT_EQ("return minus the baseline's", change.columns[1].title);
  EXPECT_NEAR(50 + kHalf, *std::get<Number>(At(change, 0, "return_difference")).high, 0.01);
  const Table& improvement = TableOf(document, "improvement");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(At(improvement, 0, "change_pct")));
  EXPECT_TRUE(improvement.columns[4].in_text) << "the text contains the difference, too";
  EXPECT_TRUE(Contains(document.verdict[0], "runners=2 envs=1 (difference +50")) << document.verdict[0];
}

TEST(Change, IsADifferenceIfOneValueIsBelowZero) {
  const Document document = Compare({100, 110, 90}, {50, 60, -1});
  EXPECT_EQ("return minus the baseline's", TableOf(document, "change").columns[1].title);
  EXPECT_FALSE(Contains(document.verdict[0], " %)")) << document.verdict[0];
}

TEST(Change, IsARatioIfValuesAreAboveZero) {
  const Document document = Compare({100, 110, 90}, {150, 160, 140});
  const Figure& gains = FigureOf(document, "gains");
  EXPECT_DOUBLE_EQ(1.5, RowsOf(gains, "return: more is better", "mean")[0]["value"]);
  EXPECT_THAT(gains.panels[0].dump(), testing::HasSubstr(R"("values":[{"at":1.0}])"));
  EXPECT_DOUBLE_EQ(1.5, NumberAt(TableOf(document, "change"), 0, "return"));
  const Table& improvement = TableOf(document, "improvement");
  EXPECT_DOUBLE_EQ(50, NumberAt(improvement, 0, "change_pct"));
  EXPECT_FALSE(improvement.columns[4].in_text);
}

}  // namespace
}  // namespace backplane
