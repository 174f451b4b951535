// Tests the task. `backplane plugin validate` checks the plugin around it.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

struct PoleTest : testing::Test {
  PoleTest() : world(Options()), pole(world) { pole.Reset(world, rng, obs); }
  bp::StepResult Push(float force) { return pole.Step(world, rng, &force, obs, info); }

  World world;
  Pole pole;
  bp::Rng rng{1};
  float obs[4], info[1];
};

TEST_F(PoleTest, StartsUpright) {
  EXPECT_LT(std::fabs(obs[1]), world.max_angle);
  EXPECT_FALSE(Push(0).terminated);
}

TEST_F(PoleTest, PoleFallsAgainstDirectionOfPush) {
  int steps = 1;
  while (!Push(1).terminated && steps < 500) ++steps;
  EXPECT_LT(steps, 100);
  EXPECT_GT(obs[0], 0);
  EXPECT_LT(obs[1], -world.max_angle);
}

}  // namespace
