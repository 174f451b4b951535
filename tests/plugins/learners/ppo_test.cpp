// The learner's promises, tested through its function table.
#include <gtest/gtest.h>

#include "cartpole_trial.hpp"
#include "nn/bf16.hpp"

namespace backplane::ppo {
namespace {

using backplane::test_support::CartPoleTrial;

TEST(Ppo, ARowsResultDoesNotDependOnTheRange) {
  CartPoleTrial trial(13, 4, {{"train_batch_size", "52"}});
  trial.Iterate();
  trial.Act(0, 0, 13);
  const std::vector<float> value = trial.value().data, logp = trial.logp().data;
  for (int64_t row = 0; row < 13; ++row) trial.Act(0, row, row + 1);
  EXPECT_EQ(value, trial.value().data);
  EXPECT_EQ(logp, trial.logp().data);
}

TEST(Ppo, LearnsOnBitForBitAfterLoading) {
  const std::map<std::string, std::string> options = {{"train_batch_size", "64"},     {"minibatch_size", "24"},
                                                      {"normalize_obs", "true"},      {"normalize_rewards", "true"},
                                                      {"lr_schedule", "kl_adaptive"}, {"kl_target", "0.008"}};
  CartPoleTrial one(4, 16, options), two(4, 16, options);
  for (int i = 0; i < 3; ++i) one.Iterate(), two.Iterate();
  const std::string saved = one.Saved();
  EXPECT_EQ(saved, two.Saved());
  ASSERT_EQ(two.Resume(saved), BP_OK) << two.error();
  one.Iterate(), two.Iterate();
  const std::string after = one.Saved();
  EXPECT_NE(after, saved);
  EXPECT_EQ(after, two.Saved());
}

// A whole iteration by either path: the same rollout and shuffles, and weights that differ only by rounding.
TEST(Ppo, PathsLearnTheSame) {
  const auto values_after = [](const char* path) {
    CartPoleTrial trial(4, 64,
                        {{"train_batch_size", "256"}, {"minibatch_size", "64"}, {"num_epochs", "2"}, {"update_path", path}});
    EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
    trial.Act(0, 0, 4);
    return trial.value().data;
  };
  const std::vector<float> fused = values_after("fused"), torch = values_after("torch");
  for (int row = 0; row < 4; ++row) EXPECT_NEAR(fused[row], torch[row], 1e-4);
}

// Both paths round the factors of their products, so they differ no more than mixed precision differs from float32.
TEST(Ppo, PathsLearnTheSameInMixedPrecision) {
  if (!nn::HasBf16()) GTEST_SKIP() << "no avx512_bf16";
  const auto values_after = [](const char* path, const char* amp) {
    CartPoleTrial trial(
        4, 64,
        {{"train_batch_size", "256"}, {"minibatch_size", "64"}, {"num_epochs", "2"}, {"update_path", path}, {"use_amp", amp}});
    EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
    trial.Act(0, 0, 4);
    return trial.value().data;
  };
  const std::vector<float> plain = values_after("fused", "false"), fused = values_after("fused", "true"),
                           torch = values_after("torch", "true");
  EXPECT_NE(fused, plain);
  EXPECT_NE(torch, values_after("torch", "false"));
  for (int row = 0; row < 4; ++row) {
    EXPECT_NEAR(fused[row], plain[row], 2e-2);
    EXPECT_NEAR(torch[row], plain[row], 2e-2);
  }
}

TEST(Ppo, ActsInFloat32EvenIfItLearnsInMixedPrecision) {
  if (!nn::HasBf16()) GTEST_SKIP() << "no avx512_bf16";
  CartPoleTrial mixed(13, 4, {{"train_batch_size", "52"}, {"use_amp", "true"}}), plain(13, 4, {{"train_batch_size", "52"}});
  mixed.Iterate(), plain.Iterate();  // the same rollout
  ASSERT_EQ(plain.Load(mixed.Saved()), BP_OK) << plain.error();
  mixed.Act(0, 0, 13), plain.Act(0, 0, 13);
  const std::vector<float> value = mixed.value().data, logp = mixed.logp().data;
  EXPECT_EQ(value, plain.value().data);
  EXPECT_EQ(logp, plain.logp().data);
  for (int64_t row = 0; row < 13; ++row) mixed.Act(0, row, row + 1);
  EXPECT_EQ(value, mixed.value().data);
  EXPECT_EQ(logp, mixed.logp().data);
}

// The update's only step has a finite loss, and the next loss would come after a checkpoint.
TEST(Ppo, RejectsAnUpdateWithNonFiniteParameters) {
  const auto status_at = [](const char* lr, const char* activation) {
    CartPoleTrial trial(
        4, 16,
        {{"train_batch_size", "64"}, {"minibatch_size", "64"}, {"num_epochs", "1"}, {"lr", lr}, {"activation", activation}});
    const bp_status status = trial.Iterate();
    EXPECT_EQ(trial.error().starts_with("the norm of the parameters is "), status == BP_E_NUMERIC) << trial.error();
    return status;
  };
  for (const char* activation : {"tanh", "relu"}) {
    EXPECT_EQ(status_at("1.0e-3", activation), BP_OK);
    EXPECT_EQ(status_at("1.0e39", activation), BP_E_NUMERIC);
  }
}

TEST(Ppo, RejectsAnInfiniteObservationThatItsNormaliserWouldKeep) {
  CartPoleTrial trial(4, 16, {{"train_batch_size", "64"}, {"normalize_obs", "true"}});
  EXPECT_EQ(trial.Iterate(), BP_OK);
  trial.PutCart(2, INFINITY);
  EXPECT_EQ(trial.Collect(0), BP_E_NUMERIC);
  EXPECT_EQ(
      trial.error(),
      "normalize_obs: expected finite observations, but number 0 of channel 'obs' was infinite or not a number in the rollout");
}

TEST(Ppo, RejectsASharedTrunkWithSizesForTheCritic) {
  CartPoleTrial trial(2, 4, {{"share_layers", "true"}, {"vf_hidden", "[8]"}});
  EXPECT_EQ(trial.status(), BP_E_CONFIG);
  EXPECT_EQ(trial.error(),
            "vf_hidden: expected a separate critic, got share_layers, which uses the actor's layers (test.yaml:1:1)");
}

TEST(Ppo, RejectsStateDependentNoiseForDiscreteActions) {
  CartPoleTrial trial(2, 4, {{"use_sde", "true"}});
  EXPECT_EQ(trial.status(), BP_E_UNSUPPORTED);
}

TEST(Ppo, RejectsAStateOfADifferentShape) {
  CartPoleTrial small(2, 4, {{"hidden", "[8]"}}), large(2, 4, {{"hidden", "[16]"}});
  EXPECT_EQ(large.Load(small.Saved()), BP_E_INVALID_ARG);
  EXPECT_EQ(large.error(), "the saved state has a different shape: hidden layer: expected 16, got 8");
}

// 64 samples in three parts, with a limit of 24 or of 31.
TEST(Ppo, CutsAnEpochIntoEqualParts) {
  const auto state_after = [](const char* size) {
    CartPoleTrial trial(4, 16, {{"train_batch_size", "64"}, {"minibatch_size", size}});
    EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
    return trial.Saved();
  };
  EXPECT_EQ(state_after("24"), state_after("31"));
  EXPECT_NE(state_after("24"), state_after("32"));
}

TEST(Ppo, AsksForARolloutThenEpochsTimesMinibatchesTicks) {
  CartPoleTrial trial(4, 16, {{"train_batch_size", "61"}, {"minibatch_size", "24"}, {"num_epochs", "2"}});
  const bp_request first = trial.Plan(0);
  EXPECT_EQ(first.kind, uint32_t{BP_REQ_ROLLOUT});
  EXPECT_EQ(first.u.rollout.horizon, 16u);
  trial.Collect(0);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(trial.Plan(0).kind, uint32_t{BP_REQ_TICK});
    ASSERT_EQ(trial.Tick(), BP_OK);
  }
  EXPECT_EQ(trial.Plan(0).kind, uint32_t{BP_REQ_ROLLOUT});
}

}  // namespace
}  // namespace backplane::ppo
