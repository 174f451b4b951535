#include "rollout/evaluator.hpp"

#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

EvaluationResult Play(unsigned threads, bool learner) {
  ToyTrial trial(8, threads);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  return learner ? evaluator.Learner(trial.clocks) : evaluator.Floor(trial.clocks);
}

TEST(Evaluator, DoesNotDependOnThreads) {
  const EvaluationResult one = Play(1, true), three = Play(3, true);
  EXPECT_EQ(one.returns, three.returns);
  EXPECT_EQ(one.lengths, three.lengths);
}

TEST(Evaluator, EndsEveryEpisodeAtItsEnd) {
  const EvaluationResult result = Play(2, true);
  ASSERT_EQ(result.lengths.size(), 8u);
  for (size_t r = 0; r < 8; ++r) {
    EXPECT_GE(result.lengths[r], 1);
    EXPECT_LE(result.lengths[r], kTimeLimit);
    EXPECT_EQ(result.infos.at("ep/steps")[r], result.lengths[r]);
  }
}

TEST(Evaluator, TheFloorPlaysZeroActionsOnTheSameSeeds) {
  const EvaluationResult floor = Play(1, false), learner = Play(1, true);
  EXPECT_EQ(floor.lengths, learner.lengths) << "same seeds, and the toy's ends do not depend on actions";
  for (double r : floor.returns) EXPECT_EQ(r, 0.0);
  for (double r : learner.returns) EXPECT_GT(r, 0.0);
}

}  // namespace
}  // namespace backplane::toy
