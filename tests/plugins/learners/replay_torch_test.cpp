// A learner with a replay buffer whose updates LibTorch computes. Built with each such learner, whose name is the suite.
#include <gmock/gmock.h>

#include <cmath>

#include "off_policy/torch_staged.hpp"
#include "replay_trial.hpp"

namespace backplane {
namespace {

using test_support::ReplayTrial;
using testing::HasSubstr;
using testing::StartsWith;

using Settings = std::map<std::string, std::string>;

Settings With(Settings more) {
  more.insert(
      {{"hidden", "[16, 12]"}, {"batch_size", "32"}, {"learning_starts", "20"}, {"horizon", "15"}, {"train_freq", "1"}});
  if (ReplayTrial::Discrete()) more.insert({{"target_update_interval", "7"}, {"epsilon_steps", "0"}, {"epsilon_final", "0"}});
  return more;
}
Settings Torch(Settings more = {}) {
  more.insert({"update_path", "torch"});
  return With(std::move(more));
}

// The metrics "train/..." of 3 iterations: 35 gradient steps.
std::map<std::string, std::vector<double>> Trained(ReplayTrial* trial) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trial->Iterate(), BP_OK) << trial->error();
  return trial->host().metrics;
}
double Largest(const std::map<std::string, std::vector<double>>& one, const std::map<std::string, std::vector<double>>& other) {
  double most = 0;
  for (const auto& [name, values] : one) {
    EXPECT_EQ(values.size(), other.at(name).size()) << name;
    for (size_t i = 0; i < values.size(); ++i) most = std::max(most, std::abs(values[i] - other.at(name)[i]));
  }
  return most;
}

// The first 20 steps stay within 1e-5 of PyTorch in float64 (Parity.*_update); these are compared with each other.
TEST(BACKPLANE_LEARNER, LearnsTheSameAsTheFusedPath) {
  ReplayTrial fused(With({})), torch(Torch());
  const auto ours = Trained(&fused), its = Trained(&torch);
  EXPECT_EQ(its.at("train/updates"), (std::vector<double>{5, 15, 15}));
  EXPECT_LT(Largest(ours, its), 2e-5);
  EXPECT_NE(torch.Saved(), fused.Saved()) << "it took the fused path";
}

// A state of one path is a state of the other.
TEST(BACKPLANE_LEARNER, ResumesBitEqualAndFromTheFusedPath) {
  const Settings more = {{"prioritized_replay", "true"}, {"n_step", "3"}, {"buffer_size", "30"}};
  ReplayTrial whole(Torch(more)), part(Torch(more)), fused(With(more));
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(whole.Iterate(), BP_OK) << whole.error();
    const std::string saved = part.Saved();
    part.Again();
    ASSERT_EQ(part.Load(saved), BP_OK) << part.error();
    ASSERT_EQ(part.Iterate(), BP_OK) << part.error();
    EXPECT_TRUE(part.Saved() == whole.Saved()) << "iteration " << i;
  }
  for (int i = 0; i < 2; ++i) ASSERT_EQ(fused.Iterate(), BP_OK);
  const std::string saved = fused.Saved();
  ASSERT_EQ(part.Load(saved), BP_OK) << part.error();
  EXPECT_TRUE(part.Saved() == saved);
}

TEST(BACKPLANE_LEARNER, LearnsAboutTheSameInMixedPrecision) {
  ReplayTrial plain(Torch()), low(Torch({{"use_amp", "true"}}));
  const double distance = Largest(Trained(&plain), Trained(&low));
  EXPECT_GT(distance, 1e-5) << "float32";
  EXPECT_LT(distance, .1);
}

TEST(BACKPLANE_LEARNER, RejectsAmpThatNothingComputes) {
  EXPECT_THAT(ReplayTrial(With({{"use_amp", "true"}})).error(), StartsWith("use_amp: expected a GPU (resources.gpus)"));
  EXPECT_THAT(ReplayTrial(Torch({{"use_amp", "fp16"}})).error(), StartsWith("use_amp: expected false, true or bf16"));
  EXPECT_THAT(ReplayTrial(With({{"device", "cuda"}, {"update_path", "fused"}})).error(), StartsWith("device: expected"));
}

TEST(BACKPLANE_LEARNER, AutoIsTheGrantedGpu) {
  const auto with = [](uint32_t gpus, Settings more) {
    auto trial = std::make_unique<ReplayTrial>(With(std::move(more)));
    EXPECT_EQ(trial->host().gpu_uses, 0) << "no GPU was granted";
    trial->host().gpus.granted = gpus;
    trial->Again();
    return trial;
  };
  // LibTorch here has no CUDA, so a granted GPU cannot be used.
  const auto automatic = with(1, {}), cpu = with(1, {{"device", "cpu"}}), fused = with(1, {{"update_path", "fused"}});
  EXPECT_EQ(automatic->status(), BP_E_CONFIG);
  EXPECT_THAT(automatic->error(), StartsWith("device: auto: expected a LibTorch built for the GPU"));
  EXPECT_EQ(automatic->host().gpu_uses, 1);
  EXPECT_EQ(cpu->status(), BP_OK);
  EXPECT_EQ(fused->status(), BP_OK);
  EXPECT_EQ(cpu->host().gpu_uses + fused->host().gpu_uses, 0) << "the host then rejects the trial";
  EXPECT_THAT(with(2, {})->error(), StartsWith("resources.gpus: expected at most 1"));
}

// The CPU as a device of limited memory.
TEST(BACKPLANE_LEARNER, BatchBeyondTheLimitOfMemoryIsAnErrorOfTheDevice) {
  const Settings settings = Torch({{"hidden", "[64, 64]"}, {"batch_size", "2048"}});
  ReplayTrial free(settings), limited(settings);
  ASSERT_EQ(free.Iterate(), BP_OK) << free.error();
  const bp_device_use use = free.DeviceUse();
  EXPECT_GT(use.peak_bytes, uint64_t{2048} * 64 * 4) << "activations of a layer";
  limited.device_bytes = use.live_bytes + (use.peak_bytes - use.live_bytes) / 2;
  EXPECT_EQ(limited.Iterate(), BP_E_OOM_DEVICE);
  EXPECT_THAT(limited.error(), HasSubstr("a smaller batch_size needs less"));
  limited.device_bytes = 0;
  EXPECT_EQ(limited.Iterate(), BP_OK) << "the limit is gone";
}

TEST(BACKPLANE_LEARNER, CopiesPiecesInOneBuffer) {
  off_policy::Staged staged(at::kCPU);
  for (int round = 0; round < 2; ++round) {
    std::vector<float> one(20, 1.f + static_cast<float>(round)), two{5, 6};
    staged.Begin();
    const size_t first = staged.Add(one.data(), 20), none = staged.Add(nullptr, 7), second = staged.Add(two.data(), 2);
    staged.Copy();
    one.assign(20, 9);
    EXPECT_TRUE(staged.Get(first, {4, 5}).eq(1 + round).all().item<bool>()) << "a copy";
    EXPECT_FALSE(staged.Get(none).defined());
    EXPECT_EQ(staged.Get(second)[1].item<float>(), 6.f);
  }
}

}  // namespace
}  // namespace backplane
