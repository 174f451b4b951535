// What it writes. How it listens, `backplane plugin validate` tries.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(IterationTable, HasAnEmptyCellForWhatAnIterationLacks) {
  bp::Iteration iteration;
  iteration.number = 3, iteration.env_steps = 768;
  iteration.metrics = {{"sps", 1e6, true}, {"return", -2.5, false}};
  EXPECT_EQ(IterationTable::Line(iteration, "return,eval/return,sps"), "3,768,-2.5,,1000000\n");
}

}  // namespace
