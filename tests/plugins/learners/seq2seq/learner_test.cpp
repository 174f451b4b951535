// The learner through its function table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "options.hpp"
#include "trial.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Api;
using testing::Group;
using ::testing::HasSubstr;
using testing::kGenerated;
using testing::kLabel;
using testing::kSource;
using testing::Plugin;
using testing::RandomTexts;
using testing::Tiny;
using testing::Trial;
using Options = testing::Options;

std::string Refusal(Options options) {
  Trial trial(Tiny(std::move(options)));
  return trial.status == BP_OK ? "accepted" : trial.error();
}

TEST(Seq2seq, AsksForGroupsInMicroBatches) {
  Trial trial(Tiny({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "16"}}));
  ASSERT_EQ(trial.status, BP_OK) << trial.error();
  const bp_request request = trial.Plan();
  EXPECT_EQ(request.kind, BP_REQ_DATA);
  EXPECT_EQ(request.u.data.group_rows, 64u);
  EXPECT_EQ(request.u.data.micro_batch, 16u);
  EXPECT_EQ(request.u.data.flags, BP_DATA_SORT);
  Trial automatic(Tiny({{"effective_batch_size", "64"},
                        {"per_device_train_batch_size", "auto"},
                        {"sort_within_update", "false"},
                        {"dataloader_drop_last", "true"}}));
  EXPECT_EQ(automatic.Plan().u.data.micro_batch, 0u);
  EXPECT_EQ(automatic.Plan().u.data.flags, BP_DATA_DROP_LAST);
}

TEST(Seq2seq, AnyTwoBatchSizesGiveTheThird) {
  const auto sizes = [](Options options) {
    Trial trial(Tiny(std::move(options)));
    EXPECT_EQ(trial.status, BP_OK) << trial.error();
    const bp_request request = trial.Plan();
    return std::pair(request.u.data.group_rows, request.u.data.micro_batch);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(sizes({}), Pair(8, 8));
  EXPECT_EQ(sizes({{"gradient_accumulation_steps", "8"}}), Pair(64, 8));
  EXPECT_EQ(sizes({{"gradient_accumulation_steps", "4"}, {"per_device_train_batch_size", "16"}}), Pair(64, 16));
  EXPECT_EQ(sizes({{"gradient_accumulation_steps", "4"}, {"effective_batch_size", "64"}}), Pair(64, 16));
  EXPECT_EQ(sizes({{"effective_batch_size", "4"}}), Pair(4, 4));
  EXPECT_EQ(sizes({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "0"}, {"gradient_accumulation_steps", "4"}}),
            Pair(64, 16));
  EXPECT_EQ(
      sizes({{"gradient_accumulation_steps", "10"}, {"effective_batch_size", "64"}, {"per_device_train_batch_size", "7"}}),
      Pair(64, 7));
}

TEST(Seq2seq, RefusesWhatContradictsItself) {
  EXPECT_THAT(
      Refusal({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "auto"}, {"gradient_accumulation_steps", "8"}}),
      HasSubstr("gradient_accumulation_steps follows; leave that out, found 8"));
  EXPECT_THAT(
      Refusal({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "8"}, {"gradient_accumulation_steps", "4"}}),
      HasSubstr("contradict each other"));
  EXPECT_THAT(Refusal({{"per_device_train_batch_size", "auto"}}), HasSubstr("auto needs effective_batch_size"));
  EXPECT_THAT(
      Refusal(
          {{"effective_batch_size", "20"}, {"per_device_train_batch_size", "8"}, {"loss_normalization", "microbatch_mean"}}),
      HasSubstr("20 items are no multiple of 8"));
  EXPECT_THAT(Refusal({{"fp16", "true"}}), HasSubstr("fp16 needs a scaled loss"));
  EXPECT_THAT(Refusal({{"d_model", "30"}}), HasSubstr("multiple of the attention heads, got 30 and 4 heads"));
  EXPECT_THAT(Refusal({{"max_position_embeddings", "39"}}),
              HasSubstr("up to 40 tokens, the model's max_position_embeddings is 39"));
  EXPECT_THAT(Refusal({{"model_name_or_path", "/no/such"}}),
              HasSubstr("there is no folder '/no/such'; models are read from this machine"));
  EXPECT_THAT(Refusal({{"load_best_model_at_end", "true"}}), HasSubstr("the last weights are kept, not the best"));
  EXPECT_THAT(Refusal({{"data_seed", "42"}}), HasSubstr("set seed there"));
  EXPECT_THAT(Refusal({{"resume_from_checkpoint", "out/checkpoint-500"}}),
              HasSubstr("goes on from the trial's own checkpoint"));
  EXPECT_THAT(Refusal({{"generation_max_length", "14"}}), HasSubstr("the env takes 12 tokens, which are 13 with the start"));
}

TEST(Seq2seq, SaysWhichOptionsItIgnores) {
  for (const Ignored& each : kIgnored) {
    const bp_descriptor& plugin = *Plugin()->descriptor(0);
    const auto declared = std::count_if(plugin.params, plugin.params + plugin.n_params,
                                        [&](const bp_param& p) { return std::string_view(p.path) == each.name; });
    EXPECT_EQ(declared, 1) << each.name;
    Trial trial(Tiny({{each.name, "true"}}));
    EXPECT_EQ(trial.status, BP_OK) << trial.error();
    EXPECT_THAT(trial.logged(), HasSubstr(std::string(each.name) + " is ignored: " + each.reason + "\n"));
  }
}

TEST(Seq2seq, ADeviceThatDoesNotHoldTheModelIsSaid) {
  Trial trial(Tiny());
  bp_limits limits = Trial::Limits();
  limits.device_bytes = 1000;
  bp_request request{sizeof(bp_request)};
  EXPECT_EQ(trial.TryPlan(limits, &request), BP_E_OOM_DEVICE);
  EXPECT_THAT(trial.error(), HasSubstr("weights, gradients and AdamW's moments alone take"));
}

TEST(Seq2seq, LearnsTheSameWithAnyCutAndWorkers) {
  const auto texts = RandomTexts(32, 97, kSource, kLabel, 3);
  const auto state_after = [&](int64_t m, const char* workers) {
    Trial trial(Tiny({{"effective_batch_size", "32"}, {"dropout", "0"}, {"parallel_microbatches", workers}}));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(trial.Update(Group(texts, m, true)), BP_OK) << trial.error();
    return trial.HeldOut(Group(texts, 8, true));
  };
  const double whole = state_after(32, "1");
  EXPECT_NEAR(state_after(8, "1"), whole, 1e-5);
  EXPECT_NEAR(state_after(8, "2"), whole, 1e-5);
  EXPECT_NEAR(state_after(5, "3"), whole, 1e-5);
}

TEST(Seq2seq, LearnsToCopyAWord) {
  // The summary is the first word of the text, so that a model that reads can be told from one that does not.
  auto texts = RandomTexts(32, 97, 6, 3, 4);
  for (testing::Text& text : texts) text.source[1] = 4 + text.source[1] % 4, text.label = {0, text.source[1], 2};
  Trial trial(
      Tiny({{"effective_batch_size", "32"}, {"lr_scheduler_type", "constant"}, {"learning_rate", "3e-3"}, {"dropout", "0"}}));
  const Group group(texts, 8, true);
  for (int i = 0; i < 150; ++i) ASSERT_EQ(trial.Update(group), BP_OK) << trial.error();
  EXPECT_LT(trial.HeldOut(group), .05);
  const auto written = trial.Act(texts, 0, texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(written[i * kGenerated + 1], texts[i].source[1]) << i;
    EXPECT_EQ(written[i * kGenerated + 2], 2) << i;
    EXPECT_EQ(written[i * kGenerated + 3], 1) << i;
  }
}

TEST(Seq2seq, WritesOnlyTheRowsItIsAskedFor) {
  Trial trial(Tiny({{"per_device_eval_batch_size", "2"}, {"generation_num_beams", "3"}}));
  const auto texts = RandomTexts(7, 97, kSource, kLabel, 5);
  const auto all = trial.Act(texts, 0, 7), some = trial.Act(texts, 2, 5);
  for (size_t i = 0; i < 7; ++i) {
    for (size_t t = 0; t < kGenerated; ++t) EXPECT_EQ(some[i * kGenerated + t], i < 2 || i >= 5 ? -7 : all[i * kGenerated + t]);
  }
}

TEST(Seq2seq, WritesNoMoreThanGenerationMaxLength) {
  Trial trial(Tiny({{"generation_max_length", "5"}, {"min_length", "5"}}));
  const auto texts = RandomTexts(3, 97, kSource, kLabel, 5);
  const auto written = trial.Act(texts, 0, 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NE(written[i * kGenerated + 3], 1) << i;  // padding
    EXPECT_EQ(written[i * kGenerated + 4], 1) << i;
  }
}

TEST(Seq2seq, GoesOnFromAState) {
  const Group group(RandomTexts(16, 97, kSource, kLabel, 6), 8, true);
  const Options options = Tiny({{"effective_batch_size", "16"}, {"dropout", "0.2"}});
  Trial trial(options);
  for (int i = 0; i < 3; ++i) trial.Update(group);
  const std::string state = trial.State();
  for (int i = 0; i < 3; ++i) trial.Update(group);
  Trial resumed(options);
  ASSERT_EQ(resumed.Load(state), BP_OK) << resumed.error();
  EXPECT_EQ(resumed.State(), state);
  for (int i = 0; i < 3; ++i) resumed.Update(group);
  EXPECT_EQ(resumed.State(), trial.State());
  Trial other(Tiny({{"encoder_ffn_dim", "32"}}));
  EXPECT_NE(other.Load(state), BP_OK);
  EXPECT_THAT(other.error(), HasSubstr("fc1.weight should be 1024, got 2048"));
  EXPECT_NE(other.Load("not a state at all"), BP_OK);
}

TEST(Seq2seq, AProbeLearnsNothing) {
  Trial trial(Tiny({{"effective_batch_size", "16"}}));
  const Group group(RandomTexts(16, 97, kSource, kLabel, 6), 8, true);
  const std::string before = trial.State();
  trial.Plan();
  const uint64_t live = trial.Use().live_bytes;
  EXPECT_EQ(trial.Feed(group, BP_DELIVERY_PROBE), BP_OK) << trial.error();
  EXPECT_EQ(trial.State(), before);
  EXPECT_EQ(trial.Use().live_bytes, live);
}

TEST(Seq2seq, WhatDoesNotFitIsDroppedAndLearnedInSmallerParts) {
  const auto texts = RandomTexts(32, 97, kSource, kLabel, 6);
  const Options options = Tiny({{"effective_batch_size", "32"}, {"dropout", "0"}});
  Trial direct(options), shrunk(options);
  ASSERT_EQ(direct.Update(Group(texts, 4, true)), BP_OK);

  shrunk.Plan();
  const uint64_t live = shrunk.Use().live_bytes;
  shrunk.ResetPeak();
  ASSERT_EQ(shrunk.Feed(Group(texts, 4, true), BP_DELIVERY_PROBE), BP_OK);
  bp_limits limits = Trial::Limits();
  limits.device_bytes = shrunk.Use().peak_bytes + 1000;
  shrunk.Plan(limits);
  // A good micro-batch goes before the one that is too large.
  std::vector<testing::Text> growing(texts);
  std::sort(growing.begin(), growing.end(), [](const auto& a, const auto& b) { return a.source.size() < b.source.size(); });
  EXPECT_EQ(shrunk.Feed(Group(growing, 16, false)), BP_E_OOM_DEVICE);
  EXPECT_THAT(shrunk.error(), HasSubstr("out of device memory"));
  EXPECT_EQ(shrunk.Use().live_bytes, live);
  shrunk.Plan(limits);
  ASSERT_EQ(shrunk.Feed(Group(texts, 4, true)), BP_OK) << shrunk.error();
  EXPECT_EQ(shrunk.State(), direct.State());
  limits.device_bytes = 0;
  shrunk.Plan(limits);
}

TEST(Seq2seq, LeavesAFolderThatItCanBeginWith) {
  const std::string folder = Trial::Folder() + "/model";
  const Group group(RandomTexts(8, 97, kSource, kLabel, 6), 8, true);
  Trial trial(Tiny({{"save_pretrained", "model"}}));
  trial.Update(group);
  trial.State();
  Trial next({{"model_name_or_path", folder}});
  ASSERT_EQ(next.status, BP_OK) << next.error();
  EXPECT_EQ(next.HeldOut(group), trial.HeldOut(group));
  EXPECT_EQ(next.Spec()->n_params, trial.Spec()->n_params);
  Trial both({{"model_name_or_path", folder}, {"d_model", "48"}});
  EXPECT_THAT(both.error(), HasSubstr("d_model is that of the model in model_name_or_path, 32"));
  std::filesystem::remove_all(Trial::Folder());
}

TEST(Seq2seq, LeavesFoldersOnlyInTheTrialsOwn) {
  for (const char* folder : {"/models/mine", "../mine", "a/../../b"})
    EXPECT_THAT(Refusal({{"save_pretrained", folder}}),
                HasSubstr(std::string("own folder, such as 'model', found '") + folder));
}

TEST(Seq2seq, EndsWhereALossIsNotFinite) {
  Trial trial(Tiny({{"learning_rate", "1e30"}, {"lr_scheduler_type", "constant"}}));
  const Group group(RandomTexts(8, 97, kSource, kLabel, 6), 8, true);
  bp_status status = BP_OK;
  for (int i = 0; i < 5 && status == BP_OK; ++i) status = trial.Update(group);
  EXPECT_EQ(status, BP_E_NUMERIC);
  EXPECT_THAT(trial.error(), HasSubstr("is not finite; a smaller learning_rate"));
}

}  // namespace
}  // namespace backplane::seq2seq
