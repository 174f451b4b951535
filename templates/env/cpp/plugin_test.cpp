// Tests the task. `backplane plugin validate` checks the plugin around it.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

struct PointTest : testing::Test {
  PointTest() { point.Reset(model, rng, obs); }
  bp::StepResult Push(float force) { return point.Step(model, rng, &force, obs, info); }

  Point::Model model;
  bp::Rng rng{1};
  Point point;
  float obs[2], info[1];
};

TEST_F(PointTest, StartsAtRestWithinResetRange) {
  EXPECT_LE(std::fabs(obs[0]), model.reset_range);
  EXPECT_EQ(obs[1], 0);
}

TEST_F(PointTest, MovesInDirectionOfForce) {
  point.x = 0;
  for (int step = 0; step < 10; ++step) Push(1);
  EXPECT_GT(obs[0], 0);
  EXPECT_EQ(info[0], obs[0]);
}

TEST_F(PointTest, EndsAtTenMetres) {
  point.x = 9.99, point.v = 1;
  EXPECT_TRUE(Push(0).terminated);
}

}  // namespace
