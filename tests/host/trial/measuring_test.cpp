#include <gtest/gtest.h>

#include <cmath>

#include "trial/speed.hpp"

namespace backplane {
namespace {

// Two seeds share 20 s, so 10 s each.
Measuring To(double precision_pct) {
  ReportConfig report;
  report.kind = "parallel_efficiency";
  report.precision_pct = precision_pct;
  report.max_time_s = 20;
  return Measuring(report, 2);
}

void AddAll(const std::vector<double>& speeds, Measuring* measuring) {
  for (const double speed : speeds) measuring->Add(speed);
}

// Their logarithms are 0, 0.01 and 0.02: the interval reaches exp(4.302652729911275 * 0.01 / sqrt(3)) - 1 = 2.515 % above.
const std::vector<double> kThree = {1000, 1000 * std::exp(0.01), 1000 * std::exp(0.02)};

TEST(MeasuringASpeed, EndsAtItsPrecision) {
  Measuring wide = To(2.5), narrow = To(2.53);
  AddAll(kThree, &wide);
  AddAll(kThree, &narrow);
  EXPECT_FALSE(wide.Ended(1));
  EXPECT_TRUE(narrow.Ended(1));
  EXPECT_FALSE(wide.Reached(1)->reached);
  EXPECT_TRUE(narrow.Reached(1)->reached);
  EXPECT_NEAR(2.5153, *narrow.Reached(1)->reached_pct, 1e-4);
  EXPECT_EQ(3u, narrow.Reached(1)->iterations);
  // A fourth value in the middle: sqrt(2 / 3) of the spread, and t = 3.182446305284263 with 3 degrees of freedom: 1.308 %.
  wide.Add(1000 * std::exp(0.01));
  EXPECT_NEAR(1.3077, *wide.Reached(1)->reached_pct, 1e-4);
  EXPECT_TRUE(wide.Ended(1));
}

TEST(MeasuringASpeed, NeedsThreeIterationsEvenIfTwoAgree) {
  Measuring measuring = To(5);
  AddAll({1000, 1000}, &measuring);
  EXPECT_FALSE(measuring.Ended(1));
  EXPECT_FALSE(measuring.Reached(1)->reached_pct);
  EXPECT_FALSE(measuring.Reached(1)->reached);
  measuring.Add(1000);
  EXPECT_TRUE(measuring.Ended(1));
}

TEST(MeasuringASpeed, EndsAfterItsShareOfTheTime) {
  Measuring measuring = To(5);
  EXPECT_FALSE(measuring.Ended(100)) << "without an iteration there would be no speed";
  measuring.Add(1000);
  EXPECT_FALSE(measuring.Ended(9.9));
  EXPECT_TRUE(measuring.Ended(10));
  EXPECT_FALSE(measuring.Reached(10)->reached);
  EXPECT_FALSE(measuring.Reached(10)->reached_pct);
  EXPECT_DOUBLE_EQ(0.5, measuring.Progress(5));
  EXPECT_DOUBLE_EQ(1, measuring.Progress(50));
}

TEST(MeasuringASpeed, EndsNothingWithoutAPrecision) {
  ReportConfig report;
  report.max_time_s = 20;
  Measuring measuring(report, 2);
  AddAll({1000, 1000, 1000}, &measuring);
  EXPECT_FALSE(measuring.Ended(100));
  EXPECT_EQ(0, measuring.Progress(100));
  EXPECT_FALSE(measuring.Reached(100));
}

}  // namespace
}  // namespace backplane
