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

const std::map<std::string, std::string> kHalf = {
    {"train_batch_size", "256"}, {"minibatch_size", "64"}, {"num_epochs", "2"}, {"update_path", "torch"}};

std::map<std::string, std::string> HalfWith(std::map<std::string, std::string> more) {
  more.insert(kHalf.begin(), kHalf.end());
  return more;
}

TEST(Ppo, LearnsAboutTheSameInFloat16) {
  const auto values_after = [](const char* amp) {
    CartPoleTrial trial(4, 64, HalfWith({{"use_amp", amp}}));
    EXPECT_EQ(trial.Iterate(), BP_OK) << trial.error();
    trial.Act(0, 0, 4);
    return trial.value().data;
  };
  const std::vector<float> half = values_after("fp16"), plain = values_after("false");
  EXPECT_NE(half, plain);
  EXPECT_NE(half, values_after("bf16"));
  for (int row = 0; row < 4; ++row) EXPECT_NEAR(half[row], plain[row], 2e-2);
}

TEST(Ppo, ResumesInFloat16WithTheScale) {
  // Rewards of 1 with this weight give gradients that overflow until the scale has fallen.
  const auto options = HalfWith({{"use_amp", "fp16"}, {"vf_loss_coeff", "300"}, {"normalize_advantages", "false"}});
  CartPoleTrial one(4, 64, options), two(4, 64, options);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(one.Iterate(), BP_OK) << one.error();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(two.Iterate(), BP_OK) << two.error();
  const std::string saved = one.Saved();
  ASSERT_EQ(two.Resume(saved), BP_OK) << two.error();
  EXPECT_EQ(two.Saved(), saved);
  double scale = 0;
  std::memcpy(&scale, saved.data() + saved.size() - 5 * sizeof(uint64_t), sizeof scale);
  EXPECT_LT(scale, 65536) << "at least one update was skipped";
  one.Iterate(), two.Iterate();
  EXPECT_EQ(one.Saved(), two.Saved());
}

TEST(Ppo, AcceptsAStateOfAStageInFloat32) {
  CartPoleTrial plain(4, 64, kHalf), half(4, 64, HalfWith({{"use_amp", "fp16"}}));
  ASSERT_EQ(plain.Iterate(), BP_OK);
  EXPECT_EQ(half.Load(plain.Saved()), BP_OK) << half.error();
  EXPECT_EQ(half.Iterate(), BP_OK) << half.error();
}

TEST(Ppo, RejectsFloat16WithoutLibTorch) {
  CartPoleTrial trial(4, 64, {{"use_amp", "fp16"}});
  EXPECT_EQ(trial.status(), BP_E_CONFIG);
  EXPECT_TRUE(trial.error().starts_with("use_amp: fp16: expected a GPU (resources.gpus), got none")) << trial.error();
}

TEST(Ppo, AutoIsTheGrantedGpu) {
  class Granted : public CartPoleTrial {
   public:
    using CartPoleTrial::CartPoleTrial;
    bp_status With(uint32_t gpus) {
      host().gpus.granted = gpus;
      Resume("");
      return status();
    }
  };
  Granted automatic(4, 64, {}), cpu(4, 64, {{"device", "cpu"}}), fused(4, 64, {{"update_path", "fused"}});
  EXPECT_EQ(automatic.host().gpu_uses, 0) << "no GPU was granted";
  // LibTorch here has no CUDA, so a granted GPU cannot be used.
  EXPECT_EQ(automatic.With(1), BP_E_CONFIG);
  EXPECT_TRUE(automatic.error().starts_with("device: auto: expected a LibTorch built for the GPU")) << automatic.error();
  EXPECT_EQ(automatic.host().gpu_uses, 1);
  EXPECT_EQ(cpu.With(1), BP_OK);
  EXPECT_EQ(fused.With(1), BP_OK);
  EXPECT_EQ(cpu.host().gpu_uses + fused.host().gpu_uses, 0) << "the host then rejects the trial";
}

// The CPU as a device of limited memory: minibatches of 1,024 samples fit only in parts.
class LimitedPpo : public ::testing::Test {
 protected:
  static CartPoleTrial Trial() {
    return CartPoleTrial(16, 64,
                         {{"train_batch_size", "1024"},
                          {"minibatch_size", "1024"},
                          {"num_epochs", "2"},
                          {"hidden", "[64, 64]"},
                          {"update_path", "torch"},
                          {"update_shards", "1"}});
  }
};

TEST_F(LimitedPpo, SumsGradientsOverPartsThatFit) {
  CartPoleTrial whole = Trial(), limited = Trial();
  ASSERT_EQ(whole.Iterate(), BP_OK) << whole.error();
  const bp_device_use use = whole.DeviceUse();
  EXPECT_GT(use.peak_bytes, uint64_t{1024} * 64 * 4) << "activations of a layer";
  limited.device_bytes = use.peak_bytes / 2;
  ASSERT_EQ(limited.Iterate(), BP_OK) << limited.error();
  EXPECT_LE(limited.DeviceUse().peak_bytes, use.peak_bytes) << "the peak is the process's";
  EXPECT_TRUE(limited.host().logged.starts_with("1024 samples did not fit into the device's memory, so gradients are summed "))
      << limited.host().logged;
  whole.Act(0, 0, 16), limited.Act(0, 0, 16);
  for (int row = 0; row < 16; ++row) EXPECT_NEAR(limited.value().data[row], whole.value().data[row], 1e-5);
}

TEST_F(LimitedPpo, EndsIfPartsAreForbiddenOrOneSampleDoesNotFit) {
  CartPoleTrial forbidden = Trial(), tiny = Trial();
  forbidden.device_bytes = 1 << 20, forbidden.limit_flags = BP_LIMIT_NO_SHRINK;
  EXPECT_EQ(forbidden.Iterate(), BP_E_OOM_DEVICE);
  tiny.device_bytes = 1000;
  EXPECT_EQ(tiny.Iterate(), BP_E_OOM_DEVICE);
  EXPECT_NE(tiny.error().find("not even one sample at a time fits"), std::string::npos) << tiny.error();
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
