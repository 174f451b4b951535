// The choice of the device, and a GPU's results if there is one.
#include "torch/device.hpp"

#include <gmock/gmock.h>

#include "backplane/plugin.hpp"
#include "options.hpp"
#include "trial.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Group;
using ::testing::HasSubstr;
using testing::RandomTexts;
using testing::Tiny;
using testing::Trial;
using Set = testing::Options;

ModelOptions Chosen(Set options, bool has_cuda, uint32_t granted = 0) {
  const backplane::test_support::FakeHost host(*testing::Plugin()->descriptor(0), std::move(options));
  return ReadOptions(bp::Config(&host.config), has_cuda, granted);
}

std::string Refusal(Set options, bool has_cuda, uint32_t granted = 0) {
  try {
    Chosen(std::move(options), has_cuda, granted);
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    return e.what();
  }
  return "accepted";
}

TEST(Seq2seqDevice, DefaultsToAGpuIfThereIsOne) {
  EXPECT_EQ(Chosen({}, true).device.type, BP_DEVICE_CUDA);
  EXPECT_EQ(Chosen({}, false).device.type, BP_DEVICE_CPU);
  EXPECT_EQ(Chosen({{"device", "cpu"}}, true).device.type, BP_DEVICE_CPU);
  EXPECT_EQ(Chosen({{"device", "cuda"}}, true).device.type, BP_DEVICE_CUDA);
}

TEST(Seq2seqDevice, RejectsUnusableDevices) {
  EXPECT_THAT(Refusal({{"device", "cuda"}}, false),
              HasSubstr("device: cuda: expected a GPU and a LibTorch built for it, got none"));
  EXPECT_THAT(Refusal({{"parallel_microbatches", "2"}}, true), HasSubstr("parallel_microbatches: 2 run at the same time"));
  EXPECT_EQ(Refusal({{"parallel_microbatches", "2"}}, false), "accepted");
  EXPECT_EQ(Refusal({{"parallel_microbatches", "2"}, {"device", "cpu"}}, true), "accepted");
  EXPECT_EQ(Refusal({{"bf16", "true"}}, true), "accepted");
  EXPECT_THAT(Refusal({{"fp16", "true"}}, false), HasSubstr("fp16: expected a GPU (resources.gpus), got none"));
  EXPECT_EQ(Refusal({{"fp16", "true"}}, true), "accepted");
  EXPECT_EQ(Refusal({{"fp16", "true"}, {"device", "cpu"}}, false), "accepted") << "emulated";
  EXPECT_THAT(Refusal({{"fp16", "true"}, {"bf16", "true"}}, true), HasSubstr("expected fp16 or bf16, got both"));
}

TEST(Seq2seqDevice, AutoIsTheGrantedGpuOrAnError) {
  EXPECT_EQ(Refusal({}, true, 1), "accepted");
  EXPECT_THAT(Refusal({}, true, 2), HasSubstr("resources.gpus: expected at most 1, which is all that the learner uses, got 2"));
  EXPECT_THAT(Refusal({}, false, 1), HasSubstr("device: auto: expected a LibTorch built for the GPU that resources.gpus"));
  EXPECT_EQ(Refusal({{"device", "cpu"}}, false, 1), "accepted") << "the host rejects a GPU that idles";
}

TEST(Seq2seqDevice, IsRejectedByTheLearnerWithoutAGpu) {
  if (torch_common::HasCuda()) GTEST_SKIP() << "there is a GPU";
  Trial trial(Tiny({{"device", "cuda"}}));
  EXPECT_EQ(trial.status, BP_E_CONFIG);
  EXPECT_THAT(trial.error(), HasSubstr("device: cuda: expected a GPU"));
  EXPECT_EQ(Trial(Tiny({{"device", "auto"}})).status, BP_OK);
}

TEST(Seq2seqDevice, AGpuLearnsLikeTheCpu) {
  if (!torch_common::HasCuda()) GTEST_SKIP() << "there is no GPU";
  const auto texts = RandomTexts(32, 97, testing::kSource, testing::kLabel, 3);
  const Group group(texts, 8, true);
  for (const char* low : {"false", "true"}) {  // only on the GPU, because not every CPU has bfloat16
    const Set options = Tiny({{"effective_batch_size", "32"}, {"dropout", "0.1"}});
    Set on_gpu = options;
    on_gpu["device"] = "cuda", on_gpu["bf16"] = on_gpu["gradient_checkpointing"] = low;
    Trial cpu(options), gpu(on_gpu);
    ASSERT_EQ(gpu.status, BP_OK) << gpu.error();
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(cpu.Update(group), BP_OK) << cpu.error();
      ASSERT_EQ(gpu.Update(group), BP_OK) << gpu.error();
    }
    EXPECT_NEAR(gpu.HeldOut(group), cpu.HeldOut(group), low == std::string("true") ? .05 : 1e-3);
    EXPECT_GE(gpu.Use().peak_bytes, gpu.Use().live_bytes);
    EXPECT_GE(gpu.Use().reserved_bytes, gpu.Use().live_bytes);
    // Both devices save the same state.
    const std::string state = gpu.State();
    ASSERT_EQ(cpu.Load(state), BP_OK) << cpu.error();
    EXPECT_EQ(cpu.State(), state);
    EXPECT_EQ(gpu.Act(texts, 0, 4), cpu.Act(texts, 0, 4));
  }
}

TEST(Seq2seqDevice, ReportsThatAGpuIsNotLimited) {
  if (!torch_common::HasCuda()) GTEST_SKIP() << "there is no GPU";
  Trial trial(Tiny({{"device", "cuda"}}));
  bp_limits limits = Trial::Limits();
  limits.device_bytes = uint64_t{1} << 30;
  trial.Plan(limits), trial.Plan(limits);
  EXPECT_THAT(trial.logged(), HasSubstr("resources.device_memory does not limit the GPU here"));
}

}  // namespace
}  // namespace backplane::seq2seq
