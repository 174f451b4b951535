// Tests the written lines. `backplane plugin validate` checks the plugin around it.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(IterationTable, LeavesCellsOfMissingMetricsEmpty) {
  bp::Iteration iteration;
  iteration.number = 3, iteration.env_steps = 768;
  iteration.metrics = {{"sps", 1e6, true}, {"return", -2.5, false}};
  EXPECT_EQ(IterationTable::Line(iteration, "return,eval/return,sps"), "3,768,-2.5,,1000000\n");
}

}  // namespace
