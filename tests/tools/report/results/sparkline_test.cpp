#include "results/sparkline.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

TEST(Sparkline, GoesFromItsLeastToItsLargestValue) {
  EXPECT_EQ("▁▂▃▄▅▆▇█", Sparkline({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ("█▁", Sparkline({-3, -5}));
}

TEST(Sparkline, EachCharacterIsAMeanOfManyValues) {
  std::vector<double> values(800, 0);
  for (size_t i = 400; i < 800; ++i) values[i] = i % 2 == 0 ? 0 : 2;  // a mean of 1
  EXPECT_EQ("▁▁▁▁▁▁▁▁████████", Sparkline(values));
}

TEST(Sparkline, IsEmptyForOneValueOrNone) {
  EXPECT_EQ("", Sparkline({}));
  EXPECT_EQ("", Sparkline({4, std::nan("")}));
  EXPECT_EQ("▁▁", Sparkline({4, 4})) << "no change";
}

}  // namespace
}  // namespace backplane
