// The text that it writes; of plugin.cpp, it names only Line. `backplane plugin validate` tests the contract.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(Line, HasAnEmptyCellForAMissingMetric) {
  bp::Iteration iteration;
  iteration.number = 3, iteration.env_steps = 768;
  iteration.metrics = {{"sps", 1e6, true}, {"return", -2.5, false}};
  EXPECT_EQ(Line(iteration, "return,eval/return,sps"), "3,768,-2.5,,1000000\n");
}

}  // namespace
