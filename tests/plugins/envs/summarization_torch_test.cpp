// SentencePiece and LibTorch each contain protobuf: one process trains a vocabulary, plays the env and computes with tensors.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "places.hpp"
#include "support/env_harness.hpp"
#include "support/summaries.hpp"

namespace {

// 1 / (1 + e^-x), and gradients of a small model over the tokens of the first document.
double Forward(const harness::Env& env) {
  torch::manual_seed(3);
  const torch::Tensor tokens =
      torch::from_blob(env.At<int32_t>("obs"), {*env.At<int32_t>("obs_length")}, torch::kInt).to(torch::kLong);
  torch::nn::Embedding embedding(env.spec().channels[0].nvec[0], 8);
  torch::nn::Linear linear(8, 1);
  const torch::Tensor out = torch::sigmoid(linear(embedding(tokens))).mean();
  out.backward();
  EXPECT_GT(embedding->weight.grad().abs().sum().item<double>(), 0);
  return out.item<double>();
}

TEST(OneProcess, TrainsAVocabularyPlaysTheEnvAndComputesWithTensors) {
  const torch::Tensor before = torch::ones({2, 2}).mm(torch::ones({2, 2}));
  harness::Env env(BACKPLANE_PLUGIN_DIR "/env_summarization.so", 1, 1, Summaries::Instance().options());
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  const double first = Forward(env);
  ASSERT_EQ(env.Step(), BP_OK);
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  EXPECT_EQ(Forward(env), first);
  EXPECT_TRUE(before.equal(torch::full({2, 2}, 2.0)));
}

}  // namespace
