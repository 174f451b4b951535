#include "results/thin_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace backplane {
namespace {

using Point = ThinSeries::Point;

double ValueAt(size_t i) { return std::sin(static_cast<double>(i) * 0.37) * static_cast<double>(i % 101); }

bool ByValue(const Point& a, const Point& b) { return a.value < b.value; }

TEST(ThinSeries, KeepsAShortLineWhole) {
  ThinSeries series;
  for (size_t i = 0; i < 198; ++i) series.Add(static_cast<double>(i), ValueAt(i));
  const std::vector<Point> points = series.Points();
  ASSERT_EQ(198u, points.size());
  for (size_t i = 0; i < 198; ++i) EXPECT_EQ((Point{static_cast<double>(i), ValueAt(i)}), points[i]);
}

TEST(ThinSeries, KeepsExtremesAndEndsForAnyLength) {
  for (const size_t length : {199, 200, 201, 397, 1000, 4096, 100'003}) {
    ThinSeries series;
    std::vector<Point> all;
    for (size_t i = 0; i < length; ++i) {
      all.push_back({static_cast<double>(i), ValueAt(i)});
      series.Add(all.back().x, all.back().value);
    }
    const std::vector<Point> points = series.Points();
    EXPECT_LE(points.size(), ThinSeries::kMost) << length;
    EXPECT_GE(points.size(), ThinSeries::kMost / 4) << length;
    EXPECT_EQ(all.front(), points.front());
    EXPECT_EQ(all.back(), points.back());
    EXPECT_EQ(std::min_element(all.begin(), all.end(), ByValue)->value,
              std::min_element(points.begin(), points.end(), ByValue)->value);
    EXPECT_EQ(std::max_element(all.begin(), all.end(), ByValue)->value,
              std::max_element(points.begin(), points.end(), ByValue)->value);
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(all[static_cast<size_t>(points[i].x)], points[i]) << "every point is an original one";
      if (i > 0) {
        EXPECT_LT(points[i - 1].x, points[i].x);
      }
    }
  }
}

TEST(ThinSeries, ContinuesFromTheStepToWhichATrialReturned) {
  ThinSeries series;
  for (size_t i = 0; i < 50; ++i) series.Add(static_cast<double>(i), -1);
  for (size_t i = 20; i < 40; ++i) series.Add(static_cast<double>(i), 1);
  const std::vector<Point> points = series.Points();
  ASSERT_EQ(40u, points.size());
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ((Point{static_cast<double>(i), i < 20 ? -1.0 : 1.0}), points[i]);
}

TEST(ThinSeries, OmitsValuesThatAreNotFinite) {
  ThinSeries series;
  EXPECT_TRUE(series.empty());
  series.Add(1, std::numeric_limits<double>::quiet_NaN());
  series.Add(2, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(series.empty());
  series.Add(3, 4);
  EXPECT_EQ((std::vector<Point>{{3, 4}}), series.Points());
}

}  // namespace
}  // namespace backplane
