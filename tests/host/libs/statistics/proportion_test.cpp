#include "statistics/proportion.hpp"

#include <gtest/gtest.h>

namespace backplane::statistics {
namespace {

// Expected values: scipy.stats.binomtest(k, n).proportion_ci(method="exact").
TEST(ExactProportion, EqualsSciPy) {
  const struct {
    size_t successes, n;
    double low, high;
  } cases[] = {{8, 10, 0.4439045376923585, 0.9747892736731666},
               {0, 10, 0.0, 0.30849710781876294},
               {10, 10, 0.6915028921812371, 1.0},
               {1, 1, 0.025, 1.0},
               {987, 1000, 0.9778721963632198, 0.993060382497153}};
  for (const auto& [successes, n, low, high] : cases) {
    const Interval interval = ExactProportion(successes, n);
    EXPECT_NEAR(interval.low, low, 1e-9) << successes << " of " << n;
    EXPECT_NEAR(interval.high, high, 1e-9) << successes << " of " << n;
  }
}

}  // namespace
}  // namespace backplane::statistics
