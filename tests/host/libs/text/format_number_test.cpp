#include "text/format_number.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

std::string Format(double value, int digits = 4) { return FormatNumber(Number{.value = value}, digits); }

std::string FormatMean(double value, double half_width, int digits = 4) {
  return FormatNumber(Number{.value = value, .n = 3, .low = value - half_width, .high = value + half_width}, digits);
}

TEST(FormatNumber, SignificantDigitsAndThousands) {
  EXPECT_EQ("9,562", Format(9562.3));
  EXPECT_EQ("812.4", Format(812.44));
  EXPECT_EQ("-3.142", Format(-3.14159));
  EXPECT_EQ("1,234,568", Format(1234567.8)) << "digits before the point stay";
  EXPECT_EQ("16,384", Format(16384)) << "an exact count";
  EXPECT_EQ("0", Format(0));
  EXPECT_EQ("0", Format(-0.0));
}

TEST(FormatNumber, KeepsTrailingZerosOnlyIfRounded) {
  EXPECT_EQ("80.0", Format(79.96, 3));
  EXPECT_EQ("85", Format(85, 3));
  EXPECT_EQ("0.003", Format(0.003));
  EXPECT_EQ("0.0012", Format(0.0012));
  EXPECT_EQ("0.001235", Format(0.00123456));
}

TEST(FormatNumber, VeryLargeAndVerySmall) {
  EXPECT_EQ("999,999,999", Format(999999999));
  EXPECT_EQ("1.2e9", Format(1.2e9));
  EXPECT_EQ("-1.235e12", Format(-1.23456e12));
  EXPECT_EQ("1.2e-5", Format(0.000012));
  EXPECT_EQ("1.2e9 ± 3e7", FormatMean(1.2e9, 3e7));
}

TEST(FormatNumber, TheIntervalsHalfWidthHasTheSameDecimals) {
  EXPECT_EQ("9,562 ± 213", FormatMean(9562.3, 213));
  EXPECT_EQ("812.4 ± 31.3", FormatMean(812.44, 31.27));
  EXPECT_EQ("-9.50 ± 4.20", FormatMean(-9.5, 4.2)) << "three digits of the half width at most";
  EXPECT_EQ("-3 ± 120", FormatMean(-3.2, 120));
  EXPECT_EQ("0.000 ± 0.310", FormatMean(0, 0.31));
  EXPECT_EQ("1,000 ± 0", FormatMean(1000, 0));
}

TEST(FormatNumber, ASmallHalfWidthIsNotRoundedToNothing) { EXPECT_EQ("9,562 ± 0.001", FormatMean(9562.3, 0.0012)); }

TEST(FormatNumber, PrintsNaNForValuesThatAreNotFinite) {
  EXPECT_EQ("NaN", Format(NAN));
  EXPECT_EQ("NaN", Format(INFINITY));
  EXPECT_EQ("NaN", FormatMean(NAN, 3.0));
}

TEST(FormatNumber, AnUnevenIntervalHasItsOwnBounds) {
  const auto text = [](double value, double low, double high) {
    return FormatNumber(Number{.value = value, .n = 2, .low = low, .high = high}, 3);
  };
  EXPECT_EQ("2.00 (0.67 to 6.00)", text(2, 2 / 3.0, 6)) << "2 ± 2.67 would reach below zero";
  EXPECT_EQ("1.82 ± 0.15", text(1.82, 1.82 / 1.085, 1.82 * 1.085));
  EXPECT_EQ("136,309 (46,052 to 403,466)", FormatNumber(Number{.value = 136309, .n = 2, .low = 46052, .high = 403466}, 4));
  EXPECT_EQ("0.0000 (0.0000 to 0.0513)", FormatNumber(Number{.value = 0, .n = 70, .low = 0, .high = 0.0513}, 4))
      << "a rate of 0";
}

}  // namespace
}  // namespace backplane
