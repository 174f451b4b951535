// Whole iterations of learner.ppo, from the rollout to the weights, compared with ppo_oracle.py.
#include "backplane/rng.h"
#include "driven_learner.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using test_support::Buffer;
using test_support::DrivenLearner;

enum class Actions { kContinuous, kDiscrete, kMasked };

// Random observations and rewards, with rows that end and rows that are truncated; the learner's own actions.
class Trial : public DrivenLearner {
 public:
  static constexpr int64_t kRows = 3, kSteps = 16, kObs = 5, kChoices = 3;
  static constexpr uint64_t kSeed = 11;

  Trial(const Settings& options, Actions actions) : DrivenLearner(options), actions_(actions) {
    constexpr double kLow = -1, kHigh = 1;
    const int64_t size = kObs, choices = kChoices;
    const bp_dtype f32 = bp::DtypeOf<float>();
    std::vector<bp_channel> channels = {{sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, f32, "obs", &size},
                                        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, f32, "reward"}};
    if (actions == Actions::kContinuous) {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, f32, "action", &choices});
      channels.back().low = &kLow, channels.back().high = &kHigh, channels.back().n_bounds = 1;
    } else {
      channels.push_back(
          {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0, bp::DtypeOf<int32_t>(), "action"});
      channels.back().nvec = &choices;
    }
    if (actions == Actions::kMasked) {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 1,
                          bp::DtypeOf<uint8_t>(), "action_mask", &choices});
    }
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels.data(), channels.size(), 50, {BP_DEVICE_CPU, 0}};
    Create(spec, kRows, kSeed);
    size_ = carry();
    memory_ = std::make_unique<Buffer<float>>(std::vector<int64_t>{kSteps + 1, kRows, size_});
    final_memory_ = std::make_unique<Buffer<float>>(std::vector<int64_t>{kSteps * kRows, size_});
  }

  // One rollout and its update; returns the delivered rollout.
  nlohmann::json Iterate(double progress) {
    Plan(progress);
    Fill();
    for (int64_t t = 0; t < kSteps; ++t) {
      bp_tensor in[] = {obs_.Entry(t), mask_.Entry(t), memory_->Entry(t)};
      bp_tensor out[] = {actions_ == Actions::kContinuous ? action_.Entry(t) : choice_.Entry(t), logp_.Entry(t),
                         value_.Entry(t), raw_.Entry(t), memory_->Entry(t + 1)};
      const bool masked = actions_ == Actions::kMasked, continuous = actions_ == Actions::kContinuous;
      bp_tensor *ins[] = {&in[0], &in[masked ? 1 : 2], &in[2]},
                *outs[] = {&out[0], &out[1], &out[2], &out[continuous ? 3 : 4], &out[4]};
      EXPECT_EQ(Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, kRows, 0, 7, step_++, ins, outs}), BP_OK) << error();
      EndEpisodes(t);
    }
    std::vector<const char*> names = {"obs",       "reward",      "logp",      "value",    "terminated", "truncated",
                                      "final_obs", "final_index", "obs_count", "obs_mean", "obs_m2",     "action"};
    std::vector<bp_tensor*> tensors = {
        &obs_.tensor,       &reward_.tensor,      &logp_.tensor,
        &value_.tensor,     &terminated_.tensor,  &truncated_.tensor,
        &final_obs_.tensor, &final_index_.tensor, &count_.tensor,
        &mean_.tensor,      &m2_.tensor,          actions_ == Actions::kContinuous ? &action_.tensor : &choice_.tensor};
    if (actions_ == Actions::kContinuous) names.push_back("raw_action"), tensors.push_back(&raw_.tensor);
    if (actions_ == Actions::kMasked) names.push_back("action_mask"), tensors.push_back(&mask_.tensor);
    if (size_ > 0) {
      for (const char* name : {"memory", "final_memory"}) names.push_back(name);
      for (const auto& each : {&memory_, &final_memory_}) tensors.push_back(&(*each)->tensor);
    }
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT};
    delivery.n_tensors = names.size(), delivery.names = names.data(), delivery.tensors = tensors.data();
    EXPECT_EQ(Learn(Consume(delivery), progress), BP_OK) << error();
    return AsJson(delivery);
  }

 private:
  // As the host does: keeps the memory of an episode's end, and the next episode starts with zeros.
  void EndEpisodes(int64_t t) {
    for (size_t e = 0; e < final_index_.data.size(); ++e) {
      if (final_index_.data[e] / kRows != t) continue;
      float* const next = &memory_->data[(t * kRows + kRows + final_index_.data[e] % kRows) * size_];
      std::copy_n(next, size_, &final_memory_->data[e * static_cast<size_t>(size_)]);
      std::fill_n(next, size_, 0.f);
    }
  }
  void Fill() {
    std::copy_n(&memory_->data[kSteps * kRows * size_], kRows * size_, memory_->data.begin());
    // A mean other than 0 and a deviation other than 1 make a normaliser's effect visible.
    for (size_t i = 0; i < obs_.data.size(); ++i)
      obs_.data[i] = static_cast<float>((1 + .5 * static_cast<double>(i % kObs)) * bp_rng_normal(&rng_) + .7);
    for (float& x : final_obs_.data) x = static_cast<float>(2 * bp_rng_normal(&rng_) - .5);
    for (float& x : reward_.data) x = static_cast<float>(3 * bp_rng_normal(&rng_) + 1);
    for (uint8_t& m : mask_.data) m = bp_rng_uniform(&rng_) < .7;
    for (size_t i = 0; i < mask_.data.size(); i += kChoices) mask_.data[i + (i / kChoices) % kChoices] = 1;
    final_index_.data.clear();
    for (int64_t i = 0; i < kSteps * kRows; ++i) {
      const double draw = bp_rng_uniform(&rng_);
      terminated_.data[i] = draw<.1, truncated_.data[i] = draw> .9;
      if (terminated_.data[i] || truncated_.data[i]) final_index_.data.push_back(i);
    }
    final_index_.shape[0] = final_obs_.shape[0] = final_memory_->shape[0] = static_cast<int64_t>(final_index_.data.size());
    count_.data[0] = kSteps * kRows;
    for (int64_t k = 0; k < kObs; ++k) {
      double mean = 0, m2 = 0;
      for (int64_t i = 0; i < kSteps * kRows; ++i) mean += obs_.data[i * kObs + k] / count_.data[0];
      for (int64_t i = 0; i < kSteps * kRows; ++i) m2 += (obs_.data[i * kObs + k] - mean) * (obs_.data[i * kObs + k] - mean);
      mean_.data[k] = mean, m2_.data[k] = m2;
    }
  }

  Actions actions_;
  int64_t size_ = 0;  // of a row's memory
  std::unique_ptr<Buffer<float>> memory_, final_memory_;
  bp_rng rng_{5, 0};
  uint64_t step_ = 0;
  Buffer<float> obs_{{kSteps + 1, kRows, kObs}}, reward_{{kSteps, kRows}}, logp_{{kSteps, kRows}}, value_{{kSteps, kRows}},
      action_{{kSteps, kRows, kChoices}}, raw_{{kSteps, kRows, kChoices}}, final_obs_{{kSteps * kRows, kObs}};
  Buffer<int32_t> choice_{{kSteps, kRows}};
  Buffer<uint8_t> mask_{{kSteps + 1, kRows, kChoices}}, terminated_{{kSteps, kRows}}, truncated_{{kSteps, kRows}};
  Buffer<int64_t> final_index_{{kSteps * kRows}};
  Buffer<double> count_{{1}}, mean_{{kObs}}, m2_{{kObs}};
};

struct Case {
  const char* name;
  Settings change;
  Actions actions = Actions::kContinuous;
  Settings beside = {};   // needed for an effect of the option; set in both runs
  bool different = true;  // from the same without `change`
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Large steps, so that ratios leave the clip range and the gradient is clipped.
const Settings kBase = {{"train_batch_size", "48"}, {"minibatch_size", "16"}, {"num_epochs", "3"},
                        {"hidden", "[8, 6]"},       {"lr", "0.01"},           {"log_std_init", "-0.3"}};

class PpoUpdate : public ::testing::TestWithParam<Case> {};

TEST_P(PpoUpdate, EqualsTheOracle) {
  const Case& c = GetParam();
  const Settings base = With(kBase, c.beside), options = With(base, c.change);
  Trial trial(options, c.actions);
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  nlohmann::json request = {{"seed", Trial::kSeed},
                            {"before", Hex(trial.Saved())},
                            {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
                            {"base", nullptr}};
  if (c.different) request["base"] = OptionsOf(*bp_module_v1()->descriptor(0), base);
  for (const double progress : {0., .25, .5}) {
    request["rollouts"].push_back(trial.Iterate(progress));
    request["after"].push_back(Hex(trial.Saved()));
    request["progress"].push_back(progress);
  }
  ExpectTheOraclesUpdate(request, c.different);
}

constexpr Actions kDiscrete = Actions::kDiscrete, kMasked = Actions::kMasked;
const Settings kEntropy = {{"entropy_coeff", "0.3"}}, kFreeGradient = {{"grad_clip", "0"}},
               kMemory = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 4})"}},
               kUneven = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 10})"}};

const Case kCases[] = {
    {"Continuous", {}, Actions::kContinuous, {}, false},
    {"Discrete", {}, kDiscrete, {}, false},
    {"Masked", {}, kMasked, {}, false},
    {"Torch", {{"update_path", "torch"}}, Actions::kContinuous, {}, false},
    {"TorchMasked", {{"update_path", "torch"}}, kMasked, kEntropy, false},
    {"OneShard", {{"update_shards", "1"}}, kMasked, {}, false},
    {"FiveShards", {{"update_shards", "5"}}, Actions::kContinuous, {}, false},
    {"MinibatchSize", {{"minibatch_size", "9"}}},  // parts of unequal size
    {"WholeBatch", {{"minibatch_size", "100"}}},
    {"NumEpochs", {{"num_epochs", "5"}}},
    {"Lr", {{"lr", "0.003"}}},
    {"LrLinear", {{"lr_schedule", "linear"}}},
    {"LrKlAdaptive", {{"lr_schedule", "kl_adaptive"}}, Actions::kContinuous, {{"kl_target", "0.5"}, {"lr", "0.002"}}},
    // The mean over nine minibatches is between half of the target and twice the target.
    {"LrKlAdaptiveStays",
     {{"lr_schedule", "kl_adaptive"}},
     Actions::kContinuous,
     {{"kl_target", "0.0006"}, {"lr", "0.002"}},
     false},
    {"LrKlAdaptiveFalls", {{"lr_schedule", "kl_adaptive"}}, kDiscrete, {{"kl_target", "0.000001"}}},
    {"Gamma", {{"gamma", "0.7"}}},
    {"Lambda", {{"lambda", "0.5"}}},
    {"ClipParam", {{"clip_param", "0.05"}}},
    {"ClipLinear", {{"clip_schedule", "linear"}}, Actions::kContinuous, {{"clip_param", "0.1"}}},
    {"NoVfClip", {{"vf_clip", "false"}}},
    {"VfClipParam", {{"vf_clip_param", "0.02"}}},
    {"EntropyCoeff", kEntropy, Actions::kContinuous},
    {"EntropyCoeffDiscrete", kEntropy, kDiscrete},
    {"EntropyCoeffMasked", kEntropy, kMasked},
    {"EntropyLinear", {{"entropy_schedule", "linear"}}, kMasked, kEntropy},
    {"VfLossCoeff", {{"vf_loss_coeff", "2"}}},
    {"GradClip", {{"grad_clip", "0.05"}}, Actions::kContinuous, {{"num_epochs", "1"}}},
    {"NoGradClip", kFreeGradient},
    {"KlTargetStops", {{"kl_target", "0.002"}}},
    {"NoAdvantageNormalization", {{"normalize_advantages", "false"}}},
    {"NormalizeObs", {{"normalize_obs", "true"}}},
    {"NormalizeRewards", {{"normalize_rewards", "true"}}},
    {"NormalizeBothMasked", {{"normalize_obs", "true"}, {"normalize_rewards", "true"}}, kMasked},
    {"VfHidden", {{"vf_hidden", "[7]"}}, Actions::kContinuous, {}, false},
    {"ShareLayers", {{"share_layers", "true"}}, Actions::kContinuous, {}, false},
    {"ShareLayersMasked", {{"share_layers", "true"}}, kMasked, kEntropy, false},
    {"Relu", {{"activation", "relu"}}, Actions::kContinuous, {}, false},
    {"LogStdInit", {{"log_std_init", "-1"}}, Actions::kContinuous, {}, false},
    {"UniformInit", {{"ortho_init", "false"}}, kDiscrete, {}, false},
    {"Memory", kMemory, Actions::kContinuous, {}, false},
    {"MemoryMasked", kMemory, kMasked, kEntropy, false},
    {"MemoryDiscrete", kMemory, kDiscrete, {{"normalize_obs", "true"}, {"normalize_rewards", "true"}}, false},
    {"MemoryShared", kMemory, Actions::kContinuous, {{"share_layers", "true"}}, false},
    {"MemoryWithoutLayers", kMemory, Actions::kContinuous, {{"hidden", "[]"}}, false},
    {"MemorySde", kMemory, Actions::kContinuous, {{"use_sde", "true"}}, false},
    {"MemoryFiveShards", kMemory, Actions::kContinuous, {{"update_shards", "5"}}, false},
    // The rollout's 16 steps are a sequence of 10 and one of 6.
    {"MemoryUnevenSequences", kUneven, Actions::kContinuous, {{"minibatch_size", "25"}}, false},
    {"MemoryOfOneStep", {{"memory", R"({"kind": "gru", "size": 5, "sequence": 1})"}}, kDiscrete, {}, false},
    {"MemorySequence", kUneven, Actions::kContinuous, With(kMemory, {{"minibatch_size", "100"}})},
    {"Sde", {{"use_sde", "true"}, {"sde_sample_freq", "4"}}, Actions::kContinuous, kEntropy, false},
    {"SdeTorch", {{"use_sde", "true"}, {"update_path", "torch"}}, Actions::kContinuous, kEntropy, false},
};
INSTANTIATE_TEST_SUITE_P(, PpoUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

// Four minibatches of three sequences, five times, with a learning rate that is in use.
TEST(PpoMemoryUpdate, StaysWithinRoundingForTwentySteps) {
  for (const Actions actions : {Actions::kContinuous, Actions::kMasked}) {
    const Settings options =
        With(With(kBase, kMemory), {{"minibatch_size", "12"}, {"num_epochs", "5"}, {"lr", "0.0003"}, {"hidden", "[16]"}});
    Trial trial(options, actions);
    nlohmann::json request = {{"seed", Trial::kSeed},
                              {"before", Hex(trial.Saved())},
                              {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
                              {"base", nullptr},
                              {"progress", {0.}}};
    request["rollouts"].push_back(trial.Iterate(0));
    request["after"].push_back(Hex(trial.Saved()));
    const nlohmann::json answer = ExpectTheOraclesUpdate(request, false);
    EXPECT_LT(answer.at("largest").get<double>(), 1e-5);
    auto& metrics = trial.host().metrics;
    ASSERT_EQ(answer.at("losses").size(), 20);
    ASSERT_EQ(metrics["train/policy_loss"].size(), 20);
    for (size_t i = 0; i < 20; ++i) {
      const double policy = answer["losses"][i][0], value = answer["losses"][i][1];
      EXPECT_NEAR(metrics["train/policy_loss"][i], policy, 1e-5) << i;
      EXPECT_NEAR(metrics["train/value_loss"][i], value, 1e-5 * value) << i;
    }
  }
}

}  // namespace
}  // namespace backplane::parity
