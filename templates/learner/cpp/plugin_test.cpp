// The method by itself; of plugin.cpp, it names only Fit. `backplane plugin validate` tests the contract.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(Fit, IsMeanAndSpreadOfTheBest) {
  const auto [mean, spread] = Fit({{0, 5}, {4, 5}}, 0.25);
  EXPECT_EQ(mean, (std::vector<double>{2, 5}));
  EXPECT_EQ(spread, (std::vector<double>{2.25, 0.25}));
}

}  // namespace
