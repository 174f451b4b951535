#include "text/units.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Units, NumbersAreReadWhole) {
  for (const char* bad : {"", "4.O", "4 ", " 4", "1_000", "0x10", "1e", ".", "nan", "inf", "--1", "+-1", "1e999"}) {
    EXPECT_FALSE(ParseNumber(bad)) << bad;
  }
  EXPECT_EQ(ParseNumber("3.0e-4"), 3e-4);
  EXPECT_EQ(ParseNumber("-.5"), -0.5);
  EXPECT_EQ(ParseNumber("+2."), 2.0);
}

TEST(Units, IntegersAreDigits) {
  for (const char* bad : {"", "1e3", "1_000", "4.0", "0x10", "+", "9223372036854775808"})
    EXPECT_FALSE(ParseInteger(bad)) << bad;
  EXPECT_EQ(ParseInteger("-12"), -12);
  EXPECT_EQ(ParseInteger("+12"), 12);
}

TEST(Units, Durations) {
  EXPECT_EQ(ParseDuration("30m"), 1800);
  EXPECT_EQ(ParseDuration("1h30m"), 5400);
  EXPECT_EQ(ParseDuration("90s"), 90);
  EXPECT_EQ(ParseDuration("1.5h"), 5400);
  EXPECT_EQ(ParseDuration("1d"), 86400);
  for (const char* bad : {"", "30", "m", "30m1h", "1h1h", "30 m", "-1h", "1hour", "."}) EXPECT_FALSE(ParseDuration(bad)) << bad;
  for (double seconds : {0.1, 1e-7, 1800.0, 1e17, 1.0 / 3}) EXPECT_EQ(ParseDuration(FormatDuration(seconds)), seconds);
}

TEST(Units, Sizes) {
  EXPECT_EQ(ParseSize("16GiB"), 16ull << 30);
  EXPECT_EQ(ParseSize("4GB"), 4000000000ull);
  EXPECT_EQ(ParseSize("512MiB"), 512ull << 20);
  EXPECT_EQ(ParseSize("1.5KiB"), 1536u);
  for (const char* bad : {"", "16", "GiB", "16gib", "16 GiB", "-1B", "99999999999TiB"}) EXPECT_FALSE(ParseSize(bad)) << bad;
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1536}, UINT64_MAX, uint64_t{1} << 40})
    EXPECT_EQ(ParseSize(FormatSize(bytes)), bytes);
  EXPECT_EQ(FormatSize(16ull << 30), "16GiB");
}

TEST(Units, Percentages) {
  EXPECT_EQ(ParsePercent("5%"), 5);
  EXPECT_EQ(ParsePercent("0.5%"), 0.5);
  for (const char* bad : {"", "5", "%", "5 %", "-5%", "5%%", "0.05"}) EXPECT_FALSE(ParsePercent(bad)) << bad;
  for (double percent : {5.0, 0.1, 1.0 / 3, 1e-7}) EXPECT_EQ(ParsePercent(FormatPercent(percent)), percent);
  EXPECT_EQ(FormatPercent(5), "5%");
}

}  // namespace
}  // namespace backplane
