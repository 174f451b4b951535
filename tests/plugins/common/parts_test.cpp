#include "on_policy/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace backplane::on_policy {
namespace {

TEST(Parts, CoverEverythingOnceAndDifferByOneAtMost) {
  for (int64_t n = 1; n <= 100; ++n) {
    for (int64_t parts = 1; parts <= n; ++parts) {
      int64_t end = 0, smallest = n, largest = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const Part part = PartOf(n, parts, i);
        EXPECT_EQ(part.begin, end);
        end = part.end;
        smallest = std::min(smallest, part.end - part.begin), largest = std::max(largest, part.end - part.begin);
      }
      EXPECT_EQ(end, n);
      EXPECT_LE(largest - smallest, 1);
    }
  }
}

TEST(Parts, AreAsFewAsAllowNoneToBeLarger) {
  EXPECT_EQ(PartsOfAtMost(24, 64), 3);
  EXPECT_EQ(PartsOfAtMost(32, 64), 2);
  EXPECT_EQ(PartsOfAtMost(63, 64), 2);
  EXPECT_EQ(PartsOfAtMost(64, 64), 1);
  EXPECT_EQ(PartsOfAtMost(1000, 64), 1);
  EXPECT_EQ(PartsOfAtMost(std::numeric_limits<int64_t>::max(), 64), 1);
}

}  // namespace
}  // namespace backplane::on_policy
