// Tests which curves of a panel have bands.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Context;
using test_support::FigureOf;
using test_support::RowsOf;
using test_support::Set;
using test_support::Trial;

// Curves over two iterations.
Document WithCurves(uint64_t points, uint64_t seeds, std::optional<ReturnRange> range = std::nullopt) {
  std::vector<TrialData> trials;
  for (uint64_t point = 1; point <= points; ++point)
    for (uint64_t seed = 0; seed < seeds; ++seed) trials.push_back(Trial(point, 1, 1000, seed));
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].curves["return"].back().value += static_cast<double>(i);
    trials[i].return_range = range;
  }
  const nlohmann::json curves = {{"curves", {{"file", "c.png"}, {"y", {"return"}}}}};
  return ComparisonReport({Set(trials)}, Context("comparison", {{"figures", {curves}}}));
}

struct Drawn {
  size_t bands = 0, thin = 0;  // points with a band; single seeds
  bool operator==(const Drawn&) const = default;
};
Drawn DrawnOf(const Document& document) {
  Drawn drawn;
  std::set<std::string> bands, thin;
  for (const nlohmann::json& row : RowsOf(FigureOf(document, "c"), "return", "mean")) {
    if (row.contains("low")) bands.insert(row["name"]);
    EXPECT_TRUE(row["interval"] != "" || row["n"] == "1 seed") << "a tooltip has the interval in any case";
  }
  for (const nlohmann::json& row : RowsOf(FigureOf(document, "c"), "return", "one")) thin.insert(row["trials"]);
  return {bands.size(), thin.size()};
}

TEST(Curves, HaveBandsOfFourSeedsAndInPanelsOfFourCurves) {
  EXPECT_EQ((Drawn{0, 6}), DrawnOf(WithCurves(2, 3))) << "three seeds are thin lines";
  EXPECT_EQ((Drawn{2, 8}), DrawnOf(WithCurves(2, 4)));
  EXPECT_EQ((Drawn{4, 16}), DrawnOf(WithCurves(4, 4)));
  EXPECT_EQ((Drawn{0, 0}), DrawnOf(WithCurves(5, 4))) << "five curves share a panel without bands";
  EXPECT_EQ((Drawn{0, 15}), DrawnOf(WithCurves(5, 3)));
}

TEST(Curves, BandsEndAtTheRangeOfTheReturn) {
  const auto highest = [](const Document& document) {
    double high = -INFINITY;
    for (const nlohmann::json& row : RowsOf(FigureOf(document, "c"), "return", "mean"))
      if (row.contains("high")) high = std::max(high, row["high"].get<double>());
    return high;
  };
  const double free = highest(WithCurves(1, 4));
  EXPECT_EQ(free - 0.5, highest(WithCurves(1, 4, ReturnRange{std::nullopt, free - 0.5})));
  EXPECT_EQ(free, highest(WithCurves(1, 4, ReturnRange{0, free + 1})));
}

}  // namespace
}  // namespace backplane
