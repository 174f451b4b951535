#include "rollout/evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

using Policy = Evaluator::Policy;

EvaluationResult Play(unsigned threads, Policy policy) {
  ToyTrial trial(8, threads);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  return evaluator.Play(policy, trial.clocks);
}

TEST(Evaluator, DoesNotDependOnThreads) {
  for (const Policy policy : {Policy::kLearner, Policy::kZero, Policy::kUniform}) {
    const EvaluationResult one = Play(1, policy), three = Play(3, policy);
    EXPECT_EQ(one.returns, three.returns);
    EXPECT_EQ(one.lengths, three.lengths);
  }
}

TEST(Evaluator, AFailureOfOneThreadEndsTheEvaluationAndTheNextOneIsWhole) {
  ToyTrial trial(8, 3);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  g_switches.fail_step = 5;
  EXPECT_THROW(evaluator.Play(Policy::kLearner, trial.clocks), TrialFailure);
  g_switches.fail_step = -1;
  EXPECT_EQ(evaluator.Play(Policy::kLearner, trial.clocks).returns, Play(1, Policy::kLearner).returns);
}

TEST(Evaluator, CountsItsTimeAsEvaluation) {
  ToyTrial trial(8, 1);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_FALSE(trial.clocks[0].running()) << "as it was before";
  EXPECT_GT(trial.clocks[0].ns(Phase::kEval), 0);
  PhaseClock& clock = trial.clocks[0];
  clock.Start(Phase::kSync);
  evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_EQ(clock.current(), Phase::kSync);
  clock.Stop();
}

TEST(Evaluator, EndsEveryEpisodeAtItsEnd) {
  const EvaluationResult result = Play(2, Policy::kLearner);
  ASSERT_EQ(result.lengths.size(), 8u);
  for (size_t r = 0; r < 8; ++r) {
    EXPECT_GE(result.lengths[r], 1);
    EXPECT_LE(result.lengths[r], kTimeLimit);
    EXPECT_EQ(result.infos.at("ep/steps")[r], result.lengths[r]);
  }
}

TEST(Evaluator, StepsNoRowPastTheEnvsOwnEnd) {
  g_switches.owns_time_limit = true;
  const EvaluationResult result = Play(2, Policy::kLearner);
  g_switches.owns_time_limit = false;
  for (size_t r = 0; r < 8; ++r) EXPECT_LE(result.lengths[r], OwnLimit(r));
  EXPECT_EQ(result.lengths[0], OwnLimit(0));
  EXPECT_EQ(result.lengths[1], OwnLimit(1)) << "row 0 of the same chunk was cut a step before";
}

TEST(Evaluator, TheFloorsPlayTheirActionsOnTheSameSeeds) {
  const EvaluationResult zero = Play(1, Policy::kZero), uniform = Play(1, Policy::kUniform),
                         learner = Play(1, Policy::kLearner);
  EXPECT_EQ(zero.lengths, learner.lengths) << "same seeds, and the toy's ends do not depend on actions";
  EXPECT_EQ(uniform.lengths, learner.lengths);
  for (double r : zero.returns) EXPECT_EQ(r, 0.0) << "the toy pays the action";
  for (double r : learner.returns) EXPECT_GT(r, 0.0);
  for (size_t r = 0; r < 8; ++r) {
    double wanted = 0;
    for (int t = 0; t < uniform.lengths[r]; ++t) {
      bp_rng rng{bp_seed(7, BP_PURPOSE_ACT, static_cast<uint32_t>(r), static_cast<uint64_t>(t)), 0};
      wanted += static_cast<float>(bp_rng_range(&rng, -2, 2));
    }
    EXPECT_EQ(uniform.returns[r], wanted);
  }
}

TEST(Evaluator, PlaysASingleEpisodeAndShowsItsStates) {
  ToyTrial all(8, 1);
  Evaluator whole(*all.env, *all.learner, *all.pool, 8, 7, all.cancelled, [] {});
  for (const Policy policy : {Policy::kLearner, Policy::kUniform}) {
    const EvaluationResult wanted = whole.Play(policy, all.clocks);
    for (uint64_t episode = 0; episode < 8; ++episode) {
      ToyTrial one(1, 1);
      Evaluator alone(
          *one.env, *one.learner, *one.pool, 1, 7, one.cancelled, [] {}, episode);
      int states = 0;
      alone.OnEveryState([&](double) { ++states; });
      const EvaluationResult result = alone.Play(policy, one.clocks);
      EXPECT_EQ(result.returns[0], wanted.returns[episode]);
      EXPECT_EQ(states, result.lengths[0] + 1);
    }
  }
}

TEST(Evaluator, PlaysSeveralEpisodesPerRowLikeOneRowEach) {
  constexpr uint64_t kEpisodes = 299;  // the first chunk of 3 rows plays 18, the last one 2 of 2 rows
  ToyTrial each(kEpisodes, 1);
  Evaluator one_each(*each.env, *each.learner, *each.pool, 4, 7, each.cancelled, [] {});
  for (const Policy policy : {Policy::kLearner, Policy::kZero, Policy::kUniform}) {
    const EvaluationResult wanted = one_each.Play(policy, each.clocks);
    for (const unsigned threads : {1u, 3u}) {
      ToyTrial few(RowsForEpisodes(kEpisodes, 3), threads);
      Evaluator several(*few.env, *few.learner, *few.pool, 3, 7, few.cancelled, [] {});
      several.PlayEpisodes(kEpisodes);
      for (int again = 0; again < 2; ++again) {
        const EvaluationResult result = several.Play(policy, few.clocks);
        EXPECT_EQ(result.returns, wanted.returns);
        EXPECT_EQ(result.lengths, wanted.lengths);
        EXPECT_EQ(result.infos, wanted.infos);
        EXPECT_EQ(result.capped, 0u);
      }
    }
  }
}

TEST(Evaluator, CapsEachOfSeveralEpisodesPerRow) {
  const Endless endless(false);
  constexpr uint64_t kEpisodes = 101;
  ToyTrial trial(RowsForEpisodes(kEpisodes, 2), 2);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.PlayEpisodes(kEpisodes);
  evaluator.CapEpisodes(20);
  const EvaluationResult result = evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_EQ(result.lengths, std::vector<double>(kEpisodes, 20));
  EXPECT_EQ(result.capped, kEpisodes);
}

TEST(Evaluator, EarlyChunksPlayManyEpisodesAndLateOnesOnePerRow) {
  for (const uint64_t episodes : {1, 7, 8, 100, 1000, 12'345}) {
    const std::vector<uint64_t> starts = EpisodesOfChunks(episodes, RowsForEpisodes(episodes, 8), 8);
    EXPECT_EQ(starts.front(), 0u);
    EXPECT_EQ(starts.back(), episodes);
    for (size_t i = 2; i < starts.size(); ++i) EXPECT_LE(starts[i] - starts[i - 1], starts[i - 1] - starts[i - 2]);
    EXPECT_LE(starts.back() - starts[starts.size() - 2], 8u);
    EXPECT_LE(starts[1], std::max(uint64_t{8}, episodes / 16));
  }
  EXPECT_EQ(EpisodesOfChunks(20, 20, 8), (std::vector<uint64_t>{0, 8, 16, 20}));
  EXPECT_EQ(RowsForEpisodes(20, 8), 20u);
  EXPECT_EQ(EpisodesOfChunks(35, 31, 1),
            (std::vector<uint64_t>{0,  2,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                                   18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 35}));
  EXPECT_LT(RowsForEpisodes(1000, 8), 400u);
}

// Any number of rows plays all episodes, at least one per row.
TEST(Evaluator, ChunksOfOtherNumbersOfRowsShareAllEpisodes) {
  EXPECT_EQ(EpisodesOfChunks(100, 1, 1), (std::vector<uint64_t>{0, 100}));
  EXPECT_EQ(EpisodesOfChunks(100, 100, 40), (std::vector<uint64_t>{0, 40, 80, 100}));
  for (const uint64_t rows : {1, 3, 16, 99, 100}) {
    const std::vector<uint64_t> starts = EpisodesOfChunks(100, rows, 3);
    ASSERT_EQ(starts.size(), (rows + 2) / 3 + 1);
    EXPECT_EQ(starts.back(), 100u);
    for (size_t i = 1; i < starts.size(); ++i) EXPECT_GE(starts[i] - starts[i - 1], std::min<uint64_t>(3, rows - 3 * (i - 1)));
  }
}

TEST(Evaluator, ReportsEachPlayedChunk) {
  ToyTrial trial(8, 3);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 3, 7, trial.cancelled, [] {});
  std::mutex mutex;
  std::vector<std::pair<uint64_t, uint64_t>> played;
  evaluator.Play(Policy::kLearner, trial.clocks, [&](uint64_t begin, uint64_t end) {
    const std::lock_guard lock(mutex);
    played.emplace_back(begin, end);
  });
  EXPECT_THAT(played, testing::UnorderedElementsAre(std::pair(0, 3), std::pair(3, 6), std::pair(6, 8)));
  EXPECT_EQ(evaluator.chunk_rows(), 3u);
}

TEST(Evaluator, TruncatesEpisodesWithoutEndAtTheCap) {
  for (const bool owns : {false, true}) {
    const Endless endless(owns);
    ToyTrial trial(8, 3);
    Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
    evaluator.CapEpisodes(50);
    for (const Policy policy : {Policy::kLearner, Policy::kZero}) {
      const EvaluationResult result = evaluator.Play(policy, trial.clocks);
      EXPECT_EQ(result.lengths, std::vector<double>(8, 50)) << owns;
      EXPECT_EQ(result.capped, 8u) << owns;
      EXPECT_EQ(result.out_of_time, 0u);
    }
  }
}

TEST(Evaluator, LeavesEpisodesThatEndBeforeTheCapAsTheyAre) {
  ToyTrial trial(8, 1);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.CapEpisodes(2);
  const EvaluationResult result = evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_EQ(result.lengths, Play(1, Policy::kLearner).lengths) << "the env declares a limit, which the host counts";
  EXPECT_EQ(result.capped, 0u);
  g_switches.owns_time_limit = true;
  ToyTrial owner(8, 1);
  Evaluator of_owner(*owner.env, *owner.learner, *owner.pool, 2, 7, owner.cancelled, [] {});
  of_owner.CapEpisodes(50);
  EXPECT_EQ(of_owner.Play(Policy::kLearner, owner.clocks).lengths, Play(1, Policy::kLearner).lengths);
  g_switches.owns_time_limit = false;
}

TEST(Evaluator, RaisesTheCapToTheDeclaredLimit) {
  const Endless endless(/*owns=*/true, /*declares=*/70);
  ToyTrial trial(2, 1);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.CapEpisodes(50);
  EXPECT_EQ(evaluator.Play(Policy::kLearner, trial.clocks).lengths, std::vector<double>(2, 70));
  evaluator.CapEpisodes(90);
  EXPECT_EQ(evaluator.Play(Policy::kLearner, trial.clocks).lengths, std::vector<double>(2, 90))
      << "the env exceeds its declared limit";
}

TEST(Evaluator, TruncatesEpisodesWithoutEndAtTheDeadline) {
  const Endless endless;
  ToyTrial trial(6, 2);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.EndBy(NowNs() + 50'000'000);
  const EvaluationResult result = evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_EQ(result.out_of_time, 6u);
  EXPECT_EQ(result.capped, 0u);
  for (const double length : result.lengths) EXPECT_GE(length, 1);
  for (const double value : result.returns) EXPECT_GT(value, 0) << "of the steps that were played";
}

TEST(Evaluator, PlaysEpisodesWithALimitPastTheDeadline) {
  ToyTrial trial(8, 1);
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  evaluator.EndBy(NowNs() - 1);
  const EvaluationResult result = evaluator.Play(Policy::kLearner, trial.clocks);
  EXPECT_EQ(result.lengths, Play(1, Policy::kLearner).lengths);
  EXPECT_EQ(result.out_of_time, 0u);
}

TEST(Evaluator, EndsAtAStopInAnEpisodeWithoutEnd) {
  const Endless endless;
  static ToyTrial* stopped = nullptr;
  ToyTrial trial(2, 1);
  stopped = &trial;
  g_switches.on_step = [] { stopped->cancelled = true; };
  Evaluator evaluator(*trial.env, *trial.learner, *trial.pool, 2, 7, trial.cancelled, [] {});
  try {
    evaluator.Play(Policy::kLearner, trial.clocks);
    ADD_FAILURE();
  } catch (const TrialFailure& failure) {
    EXPECT_EQ(failure.status(), BP_E_CANCELLED);
  }
  g_switches.on_step = nullptr;
}

TEST(LookPace, LooksAtEachStepOfASlowEnvAndAtOneInEightOfAQuickOne) {
  constexpr int64_t kSlowNs = 1'000'000'000, kQuickNs = 1'000;
  const auto looks = [](int64_t step_ns) {
    LookPace pace(0);
    int n = 0;
    for (int64_t t = 0; t < 800; ++t) {
      if (!pace.IsDue(t)) continue;
      pace.Looked(t, (t + 1) * step_ns);
      ++n;
    }
    return n;
  };
  EXPECT_EQ(looks(kSlowNs), 800);
  EXPECT_NEAR(looks(kQuickNs), 100, 3);
}

TEST(Evaluator, RejectsAnInvalidFlag) {
  g_switches.owns_time_limit = true;
  g_switches.cut_flag = 2;
  try {
    Play(1, Policy::kLearner);
    ADD_FAILURE();
  } catch (const TrialFailure& failure) {
    EXPECT_EQ(failure.plugin(), "env.toy");
    EXPECT_THAT(failure.what(), testing::AllOf(testing::HasSubstr("step: channel 'truncated' of row "),
                                               testing::HasSubstr(": expected 0 or 1, got 2 at step "),
                                               testing::EndsWith(" of the evaluation")));
  }
  g_switches.cut_flag = 1;
  g_switches.owns_time_limit = false;
}

}  // namespace
}  // namespace backplane::toy
