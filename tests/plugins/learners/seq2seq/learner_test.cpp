// The learner through its function table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "options.hpp"
#include "pretrained.hpp"
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

TEST(Seq2seq, RejectsContradictoryOptions) {
  EXPECT_THAT(
      Refusal({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "auto"}, {"gradient_accumulation_steps", "8"}}),
      HasSubstr("determines gradient_accumulation_steps too; leave that out, got 8"));
  EXPECT_THAT(
      Refusal({{"effective_batch_size", "64"}, {"per_device_train_batch_size", "8"}, {"gradient_accumulation_steps", "4"}}),
      HasSubstr("contradict each other"));
  EXPECT_THAT(
      Refusal({{"effective_batch_size", "10"}, {"gradient_accumulation_steps", "7"}}),
      HasSubstr("effective_batch_size 10 cannot be split into gradient_accumulation_steps 7: micro-batches of 2 items give 5"));
  EXPECT_THAT(Refusal({{"per_device_train_batch_size", "auto"}}), HasSubstr("auto: expected effective_batch_size, got none"));
  const Options automatic = {{"effective_batch_size", "64"}, {"per_device_train_batch_size", "auto"}};
  const auto refused_with = [&](const char* name, const char* value) {
    Options options = automatic;
    options[name] = value;
    return Refusal(std::move(options));
  };
  EXPECT_EQ(Refusal(automatic), "accepted");
  EXPECT_THAT(refused_with("parallel_microbatches", "2"),
              HasSubstr("auto finds the size of one micro-batch, not of 2 at the same time"));
  EXPECT_THAT(refused_with("loss_normalization", "microbatch_mean"),
              HasSubstr("make the objective depend on the device's memory"));
  EXPECT_THAT(
      Refusal(
          {{"effective_batch_size", "20"}, {"per_device_train_batch_size", "8"}, {"loss_normalization", "microbatch_mean"}}),
      HasSubstr("20 items are not a multiple of 8"));
  EXPECT_THAT(Refusal({{"fp16", "true"}, {"bf16", "true"}}), HasSubstr("fp16: expected fp16 or bf16, got both"));
  EXPECT_THAT(Refusal({{"d_model", "30"}}), HasSubstr("multiple of the attention heads, got 30 and 4 heads"));
  EXPECT_THAT(Refusal({{"max_position_embeddings", "39"}}),
              HasSubstr("up to 40 tokens, but the model's max_position_embeddings is 39"));
  EXPECT_THAT(Refusal({{"model_name_or_path", "/no/such"}}),
              HasSubstr("no folder '/no/such'; models are read from this machine"));
  EXPECT_THAT(Refusal({{"load_best_model_at_end", "true"}}), HasSubstr("the learner keeps the last weights"));
  EXPECT_THAT(Refusal({{"data_seed", "42"}}), HasSubstr("leave it out and set seed"));
  EXPECT_THAT(Refusal({{"resume_from_checkpoint", "out/checkpoint-500"}}), HasSubstr("resumes from the trial's checkpoint"));
  EXPECT_THAT(Refusal({{"generation_max_length", "14"}}),
              HasSubstr("expected at most 13 (the env's 12 tokens and the start token)"));
}

TEST(Seq2seq, WarnsAboutIgnoredOptions) {
  const bp_descriptor& plugin = *Plugin()->descriptor(0);
  for (const IgnoredName& each : kIgnored) {
    const auto declared = std::find_if(plugin.params, plugin.params + plugin.n_params,
                                       [&](const bp_param& p) { return std::string_view(p.path) == each.name; });
    ASSERT_NE(declared, plugin.params + plugin.n_params) << each.name;
    EXPECT_TRUE(std::string_view(declared->doc).starts_with("Ignored, because ")) << each.name;
    Trial trial(Tiny({{each.name, "true"}}));
    EXPECT_EQ(trial.status, BP_OK) << trial.error();
    EXPECT_THAT(trial.logged(), HasSubstr(std::string(each.name) + ": " + declared->doc + "\n"));
  }
  EXPECT_EQ(Trial(Tiny()).logged(), "");
}

TEST(Seq2seq, ReportsADeviceThatCannotHoldTheModel) {
  Trial trial(Tiny());
  bp_limits limits = Trial::Limits();
  limits.device_bytes = 1000;
  bp_request request{sizeof(bp_request)};
  EXPECT_EQ(trial.TryPlan(limits, &request), BP_E_OOM_DEVICE);
  EXPECT_THAT(trial.error(), HasSubstr("weights, gradients and AdamW's moments need"));
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

TEST(Seq2seq, APhaseRestartsItsSchedule) {
  const Group group(RandomTexts(8, 97, kSource, kLabel, 6), 8, true);
  const Options options = Tiny({{"learning_rate", "0.01"}, {"warmup_steps", "2"}});  // linear, to 0 after 40 updates
  Trial first(options), second(options);
  std::vector<double> rates;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(first.Update(group), BP_OK) << first.error();
    rates.push_back(first.Metric("train/lr"));
  }
  EXPECT_THAT(rates, ::testing::Pointwise(::testing::DoubleEq(), std::vector{0., .005, .01, .01 * 37 / 38}));
  ASSERT_EQ(second.Load(first.State()), BP_OK) << second.error();
  for (const double rate : rates) {
    ASSERT_EQ(second.Update(group), BP_OK) << second.error();
    EXPECT_EQ(second.Metric("train/lr"), rate);
  }
}

TEST(Seq2seq, RejectsLabelsWithOtherEndsThanTheModels) {
  const auto texts = RandomTexts(8, 97, kSource, kLabel, 6);
  Trial trial(Tiny());
  const std::string before = trial.State();
  EXPECT_EQ(trial.Update(Group(texts, 8, true, /*pad=*/50)), BP_OK) << trial.error();  // padding is no end
  const auto refusal = [&](int32_t first, int32_t last, size_t text) {
    auto others = texts;
    others[text].label.front() = first, others[text].label.back() = last;
    Trial fresh(Tiny());
    EXPECT_EQ(fresh.Update(Group(others, 4, false)), BP_E_CONFIG);
    EXPECT_EQ(fresh.State(), before);
    EXPECT_EQ(fresh.Plan().kind, BP_REQ_DATA);
    EXPECT_EQ(fresh.Feed(Group(others, 4, false), BP_DELIVERY_PROBE), BP_OK) << "a probe's labels are random";
    return fresh.error();
  };
  EXPECT_THAT(refusal(2, 3, 0),
              HasSubstr("labels start with token 2 and end with token 3, but the model's bos_token_id is 0 and "
                        "its eos_token_id 2"));
  EXPECT_THAT(refusal(1, 2, 0), HasSubstr("train the tokenizer with spm_train --bos_id=0 --pad_id=1 --eos_id=2"));
  EXPECT_THAT(refusal(0, 5, 7), HasSubstr("start with token 0 and end with token 5"));
}

TEST(Seq2seq, MicrobatchMeanIsTheMeanOfTheMicroBatchesMeans) {
  const auto texts = RandomTexts(16, 97, kSource, kLabel, 12);
  const auto loss_of = [&](int64_t m) {
    Trial trial(Tiny({{"effective_batch_size", "16"},
                      {"per_device_train_batch_size", std::to_string(m)},
                      {"loss_normalization", "microbatch_mean"},
                      {"dropout", "0"}}));
    double mean = 0;
    for (int64_t at = 0; at < 16; at += m) {
      const std::vector<testing::Text> part(texts.begin() + at, texts.begin() + at + m);
      mean += trial.HeldOut(Group(part, m, false)) * static_cast<double>(m) / 16;
    }
    EXPECT_EQ(trial.Update(Group(texts, m, false)), BP_OK) << trial.error();
    EXPECT_NEAR(trial.Metric("train/loss"), mean, 1e-5) << m;
    return trial.Metric("train/loss");
  };
  EXPECT_GT(std::abs(loss_of(8) - loss_of(4)), 5e-5);
}

TEST(Seq2seq, MicrobatchMeanEqualsTokenMeanForEqualLengths) {
  auto texts = RandomTexts(16, 97, kSource, kLabel, 12);
  for (testing::Text& text : texts) text.label = {0, text.source[1], 7, 2};
  const auto update = [&](const char* normalization, int64_t m) {
    Trial trial(Tiny({{"effective_batch_size", "16"},
                      {"per_device_train_batch_size", std::to_string(m)},
                      {"loss_normalization", normalization},
                      {"dropout", "0"}}));
    EXPECT_EQ(trial.Update(Group(texts, m, false)), BP_OK) << trial.error();
    return std::pair(trial.Metric("train/loss"), trial.Metric("train/grad_norm"));
  };
  const auto [loss, norm] = update("token", 16);
  for (const int64_t m : {16, 8, 4}) {
    const auto [other_loss, other_norm] = update("microbatch_mean", m);
    EXPECT_NEAR(other_loss, loss, 1e-5) << m;
    EXPECT_NEAR(other_norm, norm, 1e-4 * norm) << m;
  }
}

TEST(Seq2seq, MicrobatchMeanIsNotCutSmaller) {
  Trial trial(
      Tiny({{"effective_batch_size", "16"}, {"per_device_train_batch_size", "8"}, {"loss_normalization", "microbatch_mean"}}));
  const auto texts = RandomTexts(16, 97, kSource, kLabel, 6);
  const std::vector<testing::Text> first_five(texts.begin(), texts.begin() + 5);
  const std::string before = trial.State();
  EXPECT_EQ(trial.Update(Group(texts, 4, true)), BP_E_CONFIG);
  EXPECT_THAT(trial.error(), HasSubstr("8 items did not fit into the device's memory, and 4 would change the objective"));
  EXPECT_EQ(trial.State(), before);
  EXPECT_EQ(trial.Update(Group(first_five, 8, true)), BP_OK) << "an epoch's end";
  EXPECT_EQ(trial.Update(Group(texts, 8, true)), BP_OK) << trial.error();
}

TEST(Seq2seq, LearnsToCopyAWord) {
  // The summary is the text's first word, so only a model that reads can predict it.
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

TEST(Seq2seq, WritesOnlyRequestedRows) {
  Trial trial(Tiny({{"per_device_eval_batch_size", "2"}, {"generation_num_beams", "3"}}));
  const auto texts = RandomTexts(7, 97, kSource, kLabel, 5);
  const auto all = trial.Act(texts, 0, 7), some = trial.Act(texts, 2, 5);
  for (size_t i = 0; i < 7; ++i) {
    for (size_t t = 0; t < kGenerated; ++t) EXPECT_EQ(some[i * kGenerated + t], i < 2 || i >= 5 ? -7 : all[i * kGenerated + t]);
  }
}

TEST(Seq2seq, WritesFewerTextsPerCallOnASmallDevice) {
  // All texts have the maximum length, so a given number of them always needs the same memory.
  Trial trial(Tiny({{"per_device_eval_batch_size", "8"}, {"generation_num_beams", "4"}, {"min_length", "13"}}));
  auto texts = RandomTexts(8, 97, kSource, kLabel, 5);
  for (testing::Text& text : texts) text.source.resize(kSource, 9);
  trial.Plan();
  const auto peak_of = [&](uint64_t n) {
    trial.ResetPeak();
    trial.Act(texts, 0, n);
    return trial.Use().peak_bytes;
  };
  const auto whole = trial.Act(texts, 0, 8);
  bp_limits limits = Trial::Limits();
  limits.device_bytes = peak_of(2) + 1000;
  ASSERT_GT(peak_of(4), limits.device_bytes);
  trial.Plan(limits);
  EXPECT_EQ(trial.Act(texts, 0, 8), whole);
  limits.device_bytes = trial.Use().live_bytes + 1000;
  trial.Plan(limits);
  std::vector<int32_t> written;
  EXPECT_EQ(trial.TryAct(texts, 0, 8, &written), BP_E_OOM_DEVICE);
  EXPECT_THAT(trial.error(), HasSubstr("out of device memory"));
  limits.device_bytes = 0;
  trial.Plan(limits);
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

TEST(Seq2seq, ResumesFromAState) {
  const Group group(RandomTexts(16, 97, kSource, kLabel, 6), 8, true);
  const Options options = Tiny({{"effective_batch_size", "16"}, {"dropout", "0.2"}});
  Trial trial(options);
  for (int i = 0; i < 3; ++i) trial.Update(group);
  const std::string state = trial.State();
  for (int i = 0; i < 3; ++i) trial.Update(group);
  Trial resumed(options);
  ASSERT_EQ(resumed.Load(state, 3), BP_OK) << resumed.error();
  EXPECT_TRUE(resumed.State() == state);
  for (int i = 0; i < 3; ++i) resumed.Update(group);
  EXPECT_TRUE(resumed.State() == trial.State());
  Trial other(Tiny({{"encoder_ffn_dim", "32"}}));
  EXPECT_NE(other.Load(state), BP_OK);
  EXPECT_THAT(other.error(), HasSubstr("fc1.weight: expected 1024, got 2048"));
  EXPECT_NE(other.Load("not a state at all"), BP_OK);
}

TEST(Seq2seq, SkippedUpdatesOfFloat16AreNoStepOfTheSchedule) {
  const Group group(RandomTexts(16, 97, kSource, kLabel, 6), 8, true);
  const Options options = Tiny({{"effective_batch_size", "16"}, {"warmup_steps", "10"}, {"fp16", "true"}});
  Trial trial(options);
  ASSERT_EQ(trial.status, BP_OK) << trial.error();
  // The host's weight of the group divides the loss; a tiny one makes the scaled gradient overflow.
  Group overflowing(RandomTexts(16, 97, kSource, kLabel, 6), 8, true);
  overflowing.weight = 1e-4;
  std::vector<double> rates;
  for (const bool skipped : {false, true, true, false, false}) {
    ASSERT_EQ(trial.Update(skipped ? overflowing : group), BP_OK) << trial.error();
    rates.push_back(trial.Metric("train/lr"));
  }
  EXPECT_THAT(rates, ::testing::Pointwise(::testing::DoubleEq(), std::vector{0., 0., 0., 1e-4, 2e-4}));
  EXPECT_EQ(trial.Metric("train/skipped_updates"), 2);
  EXPECT_EQ(trial.Metric("train/loss_scale"), 16384);
  Trial resumed(options);
  ASSERT_EQ(resumed.Load(trial.State(), 5), BP_OK) << resumed.error();
  EXPECT_TRUE(resumed.State() == trial.State());
  for (Trial* each : {&trial, &resumed}) ASSERT_EQ(each->Update(group), BP_OK) << each->error();
  EXPECT_EQ(resumed.Metric("train/lr"), 3e-4);
  EXPECT_TRUE(resumed.State() == trial.State());
  // A stage in float32 hands over its weights; the scale is then the first one.
  Trial plain(Tiny({{"effective_batch_size", "16"}}));
  ASSERT_EQ(plain.Update(group), BP_OK);
  EXPECT_EQ(resumed.Load(plain.State()), BP_OK) << resumed.error();
  ASSERT_EQ(resumed.Update(group), BP_OK) << resumed.error();
  EXPECT_EQ(resumed.Metric("train/loss_scale"), 65536);
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

TEST(Seq2seq, RetriesAnOversizedMicroBatchInSmallerParts) {
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
  // A good micro-batch precedes the one that is too large.
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
  const auto beside = [&](const char* name, const char* value) {
    Trial both({{"model_name_or_path", folder}, {name, value}});
    return both.status == BP_OK ? "accepted" : both.error();
  };
  EXPECT_THAT(beside("d_model", "48"), HasSubstr("d_model: expected 32, as in model_name_or_path"));
  EXPECT_THAT(beside("max_position_embeddings", "64"), HasSubstr("max_position_embeddings: expected "));
  EXPECT_THAT(beside("init_std", "0.5"), HasSubstr("init_std: expected 0.02"));
  EXPECT_THAT(beside("scale_embedding", "true"), HasSubstr("scale_embedding: expected false, as in model_name_or_path"));
  for (const auto& [name, same] : {std::pair("d_model", "32"), {"max_position_embeddings", "40"}, {"init_std", "0.02"}})
    EXPECT_EQ(beside(name, same), "accepted");
  BartConfig config = ReadConfig(folder + "/config.json");
  config.forced_bos_token_id = config.eos_token_id;
  WriteConfig(folder + "/config.json", config);
  EXPECT_THAT(beside("d_model", "0"), HasSubstr("forced_bos_token_id and eos_token_id are both 2"));
  std::filesystem::remove_all(Trial::Folder());
}

class AFolder {
 public:
  // Saves a tiny model with these changes of its config.json.
  explicit AFolder(void (*change)(BartConfig*)) {
    Trial(Tiny({{"save_pretrained", "model"}})).State();
    BartConfig config = ReadConfig(path + "/config.json");
    change(&config);
    WriteConfig(path + "/config.json", config);
  }
  ~AFolder() { std::filesystem::remove_all(Trial::Folder()); }
  void Generation(const std::string& json) const { std::ofstream(path + "/generation_config.json") << json; }
  Options With(Options more) const {
    more["model_name_or_path"] = path;
    return more;
  }
  const std::string path = Trial::Folder() + "/model";
};

std::vector<testing::Text> WithEnds(std::vector<testing::Text> texts, std::vector<int32_t> begin, int32_t end) {
  for (testing::Text& text : texts) {
    text.label.erase(text.label.begin());
    text.label.insert(text.label.begin(), begin.begin(), begin.end());
    text.label.back() = end;
  }
  return texts;
}

TEST(Seq2seq, LabelsHaveNoBeginIfItEqualsTheirEnd) {
  const AFolder kobart([](BartConfig* c) {
    c->bos_token_id = c->eos_token_id = c->decoder_start_token_id = c->forced_eos_token_id = 1, c->pad_token_id = 3;
  });
  const auto texts = RandomTexts(8, 97, kSource, kLabel, 6);
  const auto update = [&](const std::vector<testing::Text>& some) {
    Trial trial(kobart.With({}));
    EXPECT_EQ(trial.status, BP_OK) << trial.error();
    return trial.Update(Group(some, 4, false, /*pad=*/3)) == BP_OK ? "accepted" : trial.error();
  };
  EXPECT_EQ(update(WithEnds(texts, {}, 1)), "accepted");
  EXPECT_THAT(update(WithEnds(texts, {1}, 1)), HasSubstr("so labels have no start"));
  EXPECT_THAT(update(WithEnds(texts, {}, 2)),
              HasSubstr("train the tokenizer with spm_train --bos_id=-1 --pad_id=3 --eos_id=1"));
  auto empty = WithEnds(texts, {}, 1);
  empty[2].label = {1};
  EXPECT_EQ(update(empty), "accepted");
}

TEST(Seq2seq, LabelsMayStartWithAWord) {
  Trial trial(Tiny());
  EXPECT_EQ(trial.Update(Group(WithEnds(RandomTexts(8, 97, kSource, kLabel, 6), {}, 2), 4, false)), BP_OK) << trial.error();
}

TEST(Seq2seq, LabelsOfMBartEndWithTheDecodersStart) {
  const AFolder mbart([](BartConfig* c) { c->is_mbart = true, c->decoder_start_token_id = 90; });
  const BartConfig config = ReadConfig(mbart.path + "/config.json");
  const Layout layout(config);
  std::vector<float> weights(layout.size());
  InitWeights(config, layout, 1, weights.data());
  SavePretrained(mbart.path, config, layout, weights.data());
  const auto texts = RandomTexts(8, 97, kSource, kLabel, 6);
  Trial trial(mbart.With({})), other(mbart.With({}));
  EXPECT_EQ(trial.Update(Group(WithEnds(texts, {}, 90), 4, false)), BP_OK) << trial.error();
  EXPECT_EQ(other.Update(Group(WithEnds(texts, {}, 91), 4, false)), BP_E_CONFIG);
  EXPECT_THAT(other.error(), HasSubstr("labels end with token 91"));
}

TEST(Seq2seq, FollowsTheFoldersGenerationConfig) {
  const AFolder folder([](BartConfig*) {});
  const auto texts = RandomTexts(3, 97, kSource, kLabel, 5);
  const auto written = [&](Options options) { return Trial(folder.With(std::move(options))).Act(texts, 0, 3); };
  const Options asked = {{"generation_num_beams", "3"}, {"generation_max_length", "6"}, {"min_length", "4"},
                         {"no_repeat_ngram_size", "2"}, {"length_penalty", "2.5"},      {"early_stopping", "never"}};
  const auto plain = written({}), wanted = written(asked);
  ASSERT_NE(plain, wanted);
  folder.Generation(R"({"num_beams": 3, "max_length": 6, "min_length": 4, "no_repeat_ngram_size": 2, "length_penalty": 2.5,
                        "early_stopping": "never", "forced_eos_token_id": 2, "eos_token_id": [2], "_from_model_config": true})");
  EXPECT_EQ(written({}), wanted);
  EXPECT_EQ(written({{"generation_num_beams", "1"},
                     {"generation_max_length", "0"},
                     {"min_length", "0"},
                     {"no_repeat_ngram_size", "0"},
                     {"length_penalty", "1"},
                     {"early_stopping", "false"}}),
            plain);
  folder.Generation(R"({"max_length": 142})");  // the env limits it to 12
  EXPECT_EQ(Trial(folder.With({})).status, BP_OK);
  folder.Generation(R"({"max_length": 4})");  // no forced end: config.json's no longer counts
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(written({{"min_length", "4"}})[i * kGenerated + 2], 2) << i;
  // The saved folder contains the generation config that was read.
  Trial(folder.With({{"save_pretrained", "again"}})).State();
  BartConfig config;
  EXPECT_EQ(ReadGenerationConfig(Trial::Folder() + "/again", &config).max_length, 4);
}

TEST(Seq2seq, LeavesFoldersOnlyInTheTrialsOwn) {
  for (const char* folder : {"/models/mine", "../mine", "a/../../b"})
    EXPECT_THAT(Refusal({{"save_pretrained", folder}}), HasSubstr(std::string("folder, such as 'model', got '") + folder));
}

TEST(Seq2seq, EndsAtALossThatIsNotFinite) {
  Trial trial(Tiny({{"learning_rate", "1e30"}, {"lr_scheduler_type", "constant"}}));
  const Group group(RandomTexts(8, 97, kSource, kLabel, 6), 8, true);
  bp_status status = BP_OK;
  for (int i = 0; i < 5 && status == BP_OK; ++i) status = trial.Update(group);
  EXPECT_EQ(status, BP_E_NUMERIC);
  EXPECT_THAT(trial.error(), HasSubstr("is not finite; use a smaller learning_rate"));
}

}  // namespace
}  // namespace backplane::seq2seq
