// The learner's promises, tested through its function table.
#include <gmock/gmock.h>

#include "ars_trial.hpp"

namespace backplane::ars {
namespace {

using backplane::test_support::ArsEnv;
using backplane::test_support::ArsTrial;
using Options = std::map<std::string, std::string>;

TEST(Ars, AsksForPairsThatShareTheirSeeds) {
  ArsTrial trial(Options{{"num_dirs", "3"}, {"episodes_per_dir", "2"}, {"dir_chunk", "2"}, {"episode_length", "70"}});
  const bp_request first = trial.Plan();
  ASSERT_EQ(first.kind, uint32_t{BP_REQ_EVALUATE});
  EXPECT_EQ(first.u.evaluate.candidates, 6u);
  EXPECT_EQ(first.u.evaluate.episodes_each, 2u);
  EXPECT_EQ(first.u.evaluate.chunk, 4u);
  EXPECT_EQ(first.u.evaluate.max_steps, 70u);
  const std::vector<uint64_t> seeds(first.u.evaluate.seeds, first.u.evaluate.seeds + 12);
  std::set<uint64_t> distinct(seeds.begin(), seeds.end());
  EXPECT_EQ(distinct.size(), 6u);
  for (int pair = 0; pair < 3; ++pair) {
    for (int episode = 0; episode < 2; ++episode) EXPECT_EQ(seeds[pair * 4 + episode], seeds[pair * 4 + 2 + episode]);
  }
  ASSERT_EQ(trial.Answer(std::vector<double>(12, 1)), BP_OK) << trial.error();
  const bp_request second = trial.Plan();
  for (int i = 0; i < 12; ++i) EXPECT_FALSE(distinct.contains(second.u.evaluate.seeds[i]));
}

// The three directions of a linear policy with two inputs and one output, computed from its candidates' actions, and the mean
// policy after a step.
class ArsDirections : public ::testing::Test {
 protected:
  ArsDirections() {
    for (int32_t row = 0; row < 12; ++row) {  // each candidate sees (1, 0) and (0, 1)
      trial_.candidates()[row] = row / 2;
      trial_.obs().data[row * 2 + row % 2] = 1;
    }
  }
  void ReadDirections() {
    ASSERT_EQ(trial_.Act(0, 12), BP_OK) << trial_.error();
    for (int d = 0; d < 3; ++d) {
      for (int i = 0; i < 2; ++i) direction_[d][i] = trial_.action().data[4 * d + i] / 0.5;
    }
  }
  std::array<double, 2> Mean() {
    EXPECT_EQ(trial_.Act(0, 2, true), BP_OK) << trial_.error();
    return {trial_.action().data[0], trial_.action().data[1]};
  }
  ArsTrial trial_{{{"num_dirs", "3"}, {"top_dirs", "2"}, {"noise_std", "0.5"}, {"normalize_obs", "false"}},
                  12,
                  {.obs = 2, .actions = 1, .bounded = false}};
  double direction_[3][2];
};

TEST_F(ArsDirections, APairIsTheMeanPlusAndMinusTheSame) {
  ReadDirections();
  for (int d = 0; d < 3; ++d) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_NE(trial_.action().data[4 * d + i], 0);
      EXPECT_EQ(trial_.action().data[4 * d + i], -trial_.action().data[4 * d + 2 + i]);
    }
  }
}

// The returns of the reference case (ars_kept_directions_test.cpp): directions 2 and 1 count, r+ - r- is -3 and 4.
TEST_F(ArsDirections, AStepGoesAlongTheDirectionsThatWereTried) {
  ReadDirections();
  ASSERT_EQ(trial_.Answer({1, 2, 5, 1, 3, 6}), BP_OK) << trial_.error();
  const std::array<double, 2> mean = Mean();
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(mean[i], 0.02 / (2 * 1.920286436967) * (-3 * direction_[2][i] + 4 * direction_[1][i]), 1e-8);
  }
}

TEST_F(ArsDirections, AreRedrawnInEveryIteration) {
  ReadDirections();
  const double before = direction_[0][0];
  ASSERT_EQ(trial_.Answer({1, 1, 1, 1, 1, 1}), BP_OK) << trial_.error();  // no step
  ReadDirections();
  EXPECT_NE(direction_[0][0], before);
}

std::string SavedAfter(const Options& options, const std::vector<double>& fitness, int64_t length) {
  ArsTrial trial(options);
  EXPECT_EQ(trial.Answer(fitness, length), BP_OK) << trial.error();
  return trial.Saved();
}

TEST(Ars, TheShiftIsTakenOffEveryStep) {
  const Options plain = {{"num_dirs", "2"}}, shifted = {{"num_dirs", "2"}, {"shift", "5"}},
                offset = {{"num_dirs", "2"}, {"alive_bonus_offset", "-5"}};
  EXPECT_EQ(SavedAfter(shifted, {61, 72, 53, 69}, 10), SavedAfter(plain, {11, 22, 3, 19}, 1));
  EXPECT_EQ(SavedAfter(offset, {61, 72, 53, 69}, 10), SavedAfter(plain, {11, 22, 3, 19}, 1));
}

TEST(Ars, EpisodesOfACandidateAreAveraged) {
  const Options one = {{"num_dirs", "2"}}, two = {{"num_dirs", "2"}, {"episodes_per_dir", "2"}};
  EXPECT_EQ(SavedAfter(two, {1, 3, 2, 2, 0, 2, 7, 5}, 1), SavedAfter(one, {2, 2, 1, 6}, 1));
}

TEST(Ars, EqualReturnsKeepTheWeights) {
  ArsTrial trial(Options{{"num_dirs", "2"}, {"init_std", "0.1"}}, 1);
  trial.obs().data = {1, 2, 3};
  const auto mean = [&] {
    EXPECT_EQ(trial.Act(0, 1, true), BP_OK) << trial.error();
    return trial.action().data;
  };
  const std::vector<float> before = mean();
  ASSERT_EQ(trial.Answer({.1, .1, .1, .1}), BP_OK) << trial.error();
  EXPECT_EQ(mean(), before);
  ASSERT_EQ(trial.Answer({.1, .1, .1, .2}), BP_OK) << trial.error();
  EXPECT_NE(mean(), before);
}

std::string SavedAfterTraining(Options options, int64_t rows, const ArsEnv& env = {}) {
  options.insert({"num_dirs", "10"});
  ArsTrial trial(std::move(options), rows, env);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
  return trial.Saved();
}

// hidden layers, and whether actions are discrete
class ArsKinds : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, ArsKinds, ::testing::Combine(::testing::Values("[]", "[24]"), ::testing::Bool()));

TEST_P(ArsKinds, RowsAndChunksChangeNoBit) {
  const auto [hidden, discrete] = GetParam();
  const ArsEnv env{.discrete = discrete};
  const std::string all = SavedAfterTraining({{"hidden", hidden}, {"top_dirs", "4"}}, 4, env);
  for (int64_t rows : {1, 7, 64}) {
    EXPECT_TRUE(all == SavedAfterTraining({{"hidden", hidden}, {"top_dirs", "4"}}, rows, env)) << rows;
  }
  for (const char* chunk : {"1", "7"}) {
    EXPECT_TRUE(all == SavedAfterTraining({{"hidden", hidden}, {"top_dirs", "4"}, {"dir_chunk", chunk}}, 4, env)) << chunk;
  }
}

TEST_P(ArsKinds, ARowsActionDoesNotDependOnTheRange) {
  const auto [hidden, discrete] = GetParam();
  ArsTrial trial(Options{{"hidden", hidden}, {"init_std", "1"}}, 13, {.actions = 5, .discrete = discrete});
  bp_rng rng{9, 0};
  for (float& x : trial.obs().data) x = static_cast<float>(bp_rng_normal(&rng));
  for (bool mean : {false, true}) {
    for (int32_t row = 0; row < 13; ++row) trial.candidates()[row] = 12 - row;
    ASSERT_EQ(trial.Act(0, 13, mean), BP_OK) << trial.error();
    const std::vector<float> actions = trial.action().data;
    const std::vector<int32_t> choices = trial.choice().data;
    for (int64_t row = 12; row >= 0; --row) trial.Act(row, row + 1, mean);
    EXPECT_EQ(actions, trial.action().data);
    EXPECT_EQ(choices, trial.choice().data);
  }
}

TEST(Ars, LearnsOnBitForBitAfterLoading) {
  const Options kinds[] = {{}, {{"hidden", "[16]"}, {"optimizer", "adam"}, {"shaping", "centred_ranks"}}};
  for (const Options& options : kinds) {
    ArsTrial one(options), two(options);
    const auto iterate_both = [&] {
      EXPECT_EQ(one.Iterate(), BP_OK) << one.error();
      EXPECT_EQ(two.Iterate(), BP_OK) << two.error();
    };
    for (int i = 0; i < 3; ++i) iterate_both();
    const std::string saved = one.Saved();
    EXPECT_EQ(saved, two.Saved());
    two.CreateLearner(99);  // the streams' key is part of the state
    ASSERT_EQ(two.Load(saved), BP_OK) << two.error();
    iterate_both();
    EXPECT_NE(one.Saved(), saved);
    EXPECT_EQ(one.Saved(), two.Saved());
  }
}

TEST(Ars, RejectsAStateOfADifferentShape) {
  const std::string linear = ArsTrial(Options{}).Saved(), wide = ArsTrial(Options{}, 4, {.obs = 5}).Saved(),
                    small = ArsTrial(Options{{"hidden", "[8]"}}).Saved();
  ArsTrial trial(Options{}), net(Options{{"hidden", "[16]"}}), plain(Options{{"normalize_obs", "false"}});
  EXPECT_EQ(trial.Load(wide), BP_E_INVALID_ARG);
  EXPECT_EQ(trial.error(), "the saved state has a different shape: observation size: expected 3, got 5");
  EXPECT_EQ(net.Load(small), BP_E_INVALID_ARG);
  EXPECT_EQ(net.error(), "the saved state has a different shape: hidden layer: expected 16, got 8");
  EXPECT_EQ(plain.Load(linear), BP_E_INVALID_ARG);
  EXPECT_THAT(plain.error(), ::testing::HasSubstr("2 normalize_obs"));
  EXPECT_EQ(trial.Load("something else"), BP_E_INVALID_ARG);
  EXPECT_EQ(trial.error(), "expected a saved state of learner.ars, format 1, got a different one");
  EXPECT_EQ(trial.Load(linear.substr(0, linear.size() - 1)), BP_E_IO);
}

TEST(Ars, SteersPointsToTheOrigin) {
  const Options kinds[] = {
      {{"step_size", "0.1"}, {"noise_std", "0.1"}},
      {{"hidden", "[16]"}, {"step_size", "0.1"}, {"noise_std", "0.1"}, {"squash_output", "true"}},
      {{"shaping", "centred_ranks"}, {"optimizer", "adam"}, {"step_size", "0.05"}, {"weight_decay", "0.005"}},
  };
  for (const Options& options : kinds) {
    ArsTrial trial(options);
    ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    const double first = trial.MeanReturn();
    for (int i = 0; i < 80; ++i) ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
    EXPECT_LT(first, -10);
    EXPECT_GT(trial.MeanReturn(), first / 2);
  }
}

TEST(Ars, ActionsKeepToTheirBounds) {
  for (const char* squash : {"false", "true"}) {
    ArsTrial trial(Options{{"squash_output", squash}, {"init_std", "10"}, {"normalize_obs", "false"}}, 50);
    bp_rng rng{9, 0};
    for (float& x : trial.obs().data) x = static_cast<float>(bp_rng_normal(&rng));
    ASSERT_EQ(trial.Act(0, 50, true), BP_OK) << trial.error();
    const auto [low, high] = std::ranges::minmax(trial.action().data);
    EXPECT_GE(low, -2);
    EXPECT_NEAR(low, -2, 1e-5);
    EXPECT_LE(high, 3);
    EXPECT_NEAR(high, 3, 1e-5);
  }
}

TEST(Ars, SquashedActionsAreInTheMiddleOfTheirBoundsFor0) {
  ArsTrial trial(Options{{"squash_output", "true"}}, 1);
  trial.obs().data = {1, 2, 3};
  ASSERT_EQ(trial.Act(0, 1, true), BP_OK) << trial.error();
  EXPECT_EQ(trial.action().data, (std::vector<float>{.5, .5}));
}

TEST(Ars, DiscreteActionsAreTheLargestAllowedOutput) {
  const ArsEnv env{.obs = 1, .actions = 6, .discrete = true, .masked = true};
  ArsTrial trial(Options{{"normalize_obs", "false"}, {"init_std", "1"}}, 6, env);
  std::fill(trial.obs().data.begin(), trial.obs().data.end(), 1.f);
  // Row k may not choose like the rows before it: together they make every choice.
  std::fill(trial.mask().data.begin(), trial.mask().data.end(), uint8_t{1});
  std::set<int32_t> taken;
  for (int64_t row = 0; row < 6; ++row) {
    for (int32_t choice : taken) trial.mask().data[row * 6 + choice] = 0;
    ASSERT_EQ(trial.Act(row, row + 1, true), BP_OK) << trial.error();
    taken.insert(trial.choice().data[row]);
  }
  EXPECT_EQ(taken.size(), 6u);
}

TEST(Ars, ARowWithoutAJobActsWithoutReadingIt) {
  ArsTrial trial(Options{}, 2);
  std::fill(trial.obs().data.begin(), trial.obs().data.end(), NAN);
  ASSERT_EQ(trial.Act(0, 2), BP_OK) << trial.error();
  EXPECT_EQ(trial.action().data, (std::vector<float>{0, 0, 0, 0}));
}

TEST(Ars, EndsAtAReturnThatIsNotFinite) {
  ArsTrial trial(Options{{"num_dirs", "2"}});
  EXPECT_EQ(trial.Answer({1, 2, NAN, 4}), BP_E_NUMERIC);
  EXPECT_EQ(trial.error(), "the return of candidate 2 in episode 0 is not a number; a smaller step_size or noise_std may help");
}

TEST(Ars, EndsAtObservationsThatAreNotFinite) {
  ArsTrial trial(Options{{"num_dirs", "2"}});
  trial.count = 5, trial.mean = {1, INFINITY, 2};
  EXPECT_EQ(trial.Answer({1, 2, 3, 4}), BP_E_NUMERIC);
  EXPECT_EQ(trial.error(),
            "normalize_obs: expected finite observations, but number 1 of channel 'obs' was infinite or not a number in the "
            "evaluation of "
            "the candidates");
}

TEST(Ars, EndsAtAStepThatOverflows) {
  ArsTrial trial(Options{{"num_dirs", "2"}, {"step_size", "1.0e300"}});
  EXPECT_EQ(trial.Answer({1, 2, 3, 4}), BP_E_NUMERIC);
  EXPECT_EQ(trial.error(), "the norm of the weights is infinite; a smaller step_size or noise_std may help");
}

TEST(Ars, RejectsContradictoryOptions) {
  ArsTrial top(Options{{"num_dirs", "4"}, {"top_dirs", "5"}});
  EXPECT_EQ(top.status(), BP_E_CONFIG);
  EXPECT_EQ(top.error(), "top_dirs: expected at most num_dirs (4), got 5");
  ArsTrial shift(Options{{"shift", "1"}, {"alive_bonus_offset", "-1"}});
  EXPECT_EQ(shift.status(), BP_E_CONFIG);
  EXPECT_EQ(shift.error(), "expected shift or alive_bonus_offset, which is the same with the opposite sign, got both");
  ArsTrial discrete(Options{{"squash_output", "true"}}, 4, {.discrete = true});
  EXPECT_EQ(discrete.status(), BP_E_UNSUPPORTED);
  EXPECT_EQ(discrete.error(), "squash_output: expected continuous actions, got discrete ones");
  ArsTrial unbounded(Options{{"squash_output", "true"}}, 4, {.bounded = false});
  EXPECT_EQ(unbounded.status(), BP_E_UNSUPPORTED);
  EXPECT_EQ(unbounded.error(), "squash_output: expected two finite bounds of channel 'action', got fewer");
}

TEST(Ars, RejectsAnInvalidRowOrCandidate) {
  ArsTrial trial(Options{{"num_dirs", "2"}}, 2);
  trial.candidates() = {3, 4};
  EXPECT_EQ(trial.Act(0, 1), BP_OK) << trial.error();
  EXPECT_EQ(trial.Act(0, 2), BP_E_INVALID_ARG);
  EXPECT_EQ(trial.error(), "row 1 of 2: expected a candidate, got 4 of 4");
}

}  // namespace
}  // namespace backplane::ars
