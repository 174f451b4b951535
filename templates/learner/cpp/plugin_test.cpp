// Tests the method. `backplane plugin validate` checks the plugin around it.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(Fit, ReturnsMeanAndSpreadOfBest) {
  const Distribution fit = Fit({{0, 5}, {4, 5}}, 0.25);
  EXPECT_EQ(fit.mean, (std::vector<double>{2, 5}));
  EXPECT_EQ(fit.spread, (std::vector<double>{2.25, 0.25}));
}

}  // namespace
