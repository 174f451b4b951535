// Whole iterations of learner.ppo, from the rollout to the weights, compared with ppo_oracle.py.
#include <functional>
#include <numeric>

#include "backplane/rng.h"
#include "driven_learner.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using test_support::Buffer;
using test_support::DrivenLearner;

// Actions of an env, in channels of this order.
struct Actions {
  int64_t numbers = 0;
  std::vector<int64_t> choices = {};
  int64_t bits = 0;
  bool masked = false, several = false;  // several: MULTI_DISCRETE
  bool several_obs = false;              // the last numbers of an observation are uint8 in a channel of their own
  std::vector<int64_t> image = {};       // shape of an image in addition to the numbers
  int64_t flags() const { return std::accumulate(choices.begin(), choices.end(), int64_t{0}); }
};
const Actions kContinuous{3}, kDiscrete{0, {3}}, kMasked{0, {3}, 0, true}, kMultiDiscrete{0, {3, 2, 4}, 0, false, true},
    kMaskedChoices{0, {3, 2, 4}, 0, true, true}, kMultiBinary{0, {}, 3}, kMixed{2, {3, 2}, 2, false, true},
    kMixedMasked{2, {3, 2}, 2, true, true}, kNumbersAndChoice{2, {3}}, kSeveralObs{3, {}, 0, false, false, true},
    kSeveralObsMasked{0, {3, 2}, 0, true, true, true}, kImage{3, {}, 0, false, false, false, {40, 36, 3}},
    kPlanarImage{2, {3, 2}, 2, true, true, false, {2, 36, 40}};

// Random observations and rewards, with rows that end and rows that are truncated; the learner's own actions.
class Trial : public DrivenLearner {
 public:
  static constexpr int64_t kRows = 3, kSteps = 16, kObs = 5, kFloats = 2;
  static constexpr uint64_t kSeed = 11;

  Trial(const Settings& options, const Actions& actions)
      : DrivenLearner(options),
        actions_(actions),
        action_({kSteps, kRows, actions.numbers}),
        raw_({kSteps, kRows, actions.numbers}),
        choice_({kSteps, kRows, static_cast<int64_t>(actions.choices.size())}),
        bits_({kSteps, kRows, actions.bits}),
        mask_({kSteps + 1, kRows, actions.flags()}),
        image_(Shape({kSteps + 1, kRows}, actions.image)),
        final_image_(Shape({kSteps * kRows}, actions.image)) {
    constexpr double kLow = -1, kHigh = 1;
    const int64_t size = actions.several_obs ? kFloats : kObs, bytes = kObs - kFloats, choices = choice_.shape[2],
                  flags = actions.flags();
    const bp_dtype f32 = bp::DtypeOf<float>();
    std::vector<bp_channel> channels = {{sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, f32, "obs", &size},
                                        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, f32, "reward"}};
    if (actions.several_obs)
      channels.push_back(
          {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<uint8_t>(), "obs/more", &bytes});
    if (sees())
      channels.push_back({sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 3, bp::DtypeOf<uint8_t>(), "obs/image",
                          actions.image.data()});
    const auto add = [&](uint16_t space, uint16_t ndim, bp_dtype type, const int64_t* shape, auto* buffer) {
      action_names_.push_back(kNames[action_names_.size()]),
          action_entries_.push_back([buffer](int64_t t) { return buffer->Entry(t); });
      if (buffer != static_cast<void*>(&action_)) choice_names_.push_back(action_names_.back());
      action_tensors_.push_back(&buffer->tensor);
      return channels.push_back(
          {sizeof(bp_channel), BP_ROLE_ACTION, space, BP_SCOPE_ROW, ndim, type, action_names_.back(), shape});
    };
    if (actions.numbers > 0) {
      add(BP_SPACE_BOX, 1, f32, &actions.numbers, &action_);
      channels.back().low = &kLow, channels.back().high = &kHigh, channels.back().n_bounds = 1;
    }
    if (choices > 0) {
      const auto i32 = bp::DtypeOf<int32_t>();
      actions.several ? add(BP_SPACE_MULTI_DISCRETE, 1, i32, &choices, &choice_)
                      : add(BP_SPACE_DISCRETE, 0, i32, nullptr, &choice_);
      channels.back().nvec = actions.choices.data();
    }
    if (actions.bits > 0) add(BP_SPACE_MULTI_BINARY, 1, bp::DtypeOf<uint8_t>(), &actions.bits, &bits_);
    if (actions.masked) {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 1,
                          bp::DtypeOf<uint8_t>(), "action_mask", &flags});
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
      std::vector<bp_tensor> in = {actions_.several_obs ? floats_.Entry(t) : obs_.Entry(t)}, out;
      if (actions_.several_obs) in.push_back(bytes_.Entry(t));
      if (sees()) in.push_back(image_.Entry(t));
      if (actions_.masked) in.push_back(mask_.Entry(t));
      for (const auto& entry : action_entries_) out.push_back(entry(t));
      out.push_back(logp_.Entry(t)), out.push_back(value_.Entry(t));
      if (actions_.numbers > 0) out.push_back(raw_.Entry(t));
      if (size_ > 0) in.push_back(memory_->Entry(t)), out.push_back(memory_->Entry(t + 1));
      std::vector<bp_tensor*> ins, outs;
      for (bp_tensor& each : in) ins.push_back(&each);
      for (bp_tensor& each : out) outs.push_back(&each);
      EXPECT_EQ(Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, kRows, 0, 7, step_++, ins.data(), outs.data()}), BP_OK) << error();
      EndEpisodes(t);
    }
    std::vector<const char*> names = {"obs",       "reward",      "logp",      "value",    "terminated", "truncated",
                                      "final_obs", "final_index", "obs_count", "obs_mean", "obs_m2"};
    std::vector<bp_tensor*> tensors = {&obs_.tensor,        &reward_.tensor,    &logp_.tensor,      &value_.tensor,
                                       &terminated_.tensor, &truncated_.tensor, &final_obs_.tensor, &final_index_.tensor,
                                       &count_.tensor,      &mean_.tensor,      &m2_.tensor};
    names.insert(names.end(), action_names_.begin(), action_names_.end());
    tensors.insert(tensors.end(), action_tensors_.begin(), action_tensors_.end());
    if (actions_.numbers > 0) names.push_back("raw_action"), tensors.push_back(&raw_.tensor);
    if (actions_.masked) names.push_back("action_mask"), tensors.push_back(&mask_.tensor);
    if (size_ > 0) {
      for (const char* name : {"memory", "final_memory"}) names.push_back(name);
      for (const auto& each : {&memory_, &final_memory_}) tensors.push_back(&(*each)->tensor);
    }
    if (actions_.several_obs) {
      tensors[0] = &floats_.tensor, tensors[6] = &final_floats_.tensor;
      names.push_back("obs/more"), tensors.push_back(&bytes_.tensor);
      names.push_back("final_obs/more"), tensors.push_back(&final_bytes_.tensor);
    }
    if (sees()) {
      names.push_back("obs/image"), tensors.push_back(&image_.tensor);
      names.push_back("final_obs/image"), tensors.push_back(&final_image_.tensor);
    }
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT};
    delivery.n_tensors = names.size(), delivery.names = names.data(), delivery.tensors = tensors.data();
    EXPECT_EQ(Learn(Consume(delivery), progress), BP_OK) << error();
    ExpectAllowedChoices();
    nlohmann::json rollout = AsJson(delivery);
    rollout["obs"] = Values<float>(obs_.tensor), rollout["final_obs"] = Values<float>(final_obs_.tensor);  // joined
    return rollout;
  }
  // The channels with choices and bits.
  const std::vector<const char*>& choice_names() const { return choice_names_; }

 private:
  static std::vector<int64_t> Shape(std::vector<int64_t> lead, const std::vector<int64_t>& shape) {
    lead.insert(lead.end(), shape.begin(), shape.end());
    return lead;
  }
  bool sees() const { return !actions_.image.empty(); }

  static constexpr const char* kNames[] = {"action", "action/more", "action/most"};

  void ExpectAllowedChoices() const {
    for (int64_t i = 0; i < kSteps * kRows && actions_.masked; ++i) {
      const uint8_t* flags = mask_.data.data() + i * actions_.flags();
      for (size_t k = 0; k < actions_.choices.size(); flags += actions_.choices[k++])
        EXPECT_TRUE(flags[choice_.data[i * choice_.shape[2] + static_cast<int64_t>(k)]]) << i << ", " << k;
    }
  }

  // Makes the last numbers of each observation whole, and copies the parts of observations to their channels.
  static void Divide(std::vector<float>* obs, std::vector<float>* floats, std::vector<uint8_t>* bytes) {
    for (size_t i = 0; i < obs->size() / kObs; ++i) {
      for (size_t k = 0; k < kObs; ++k) {
        float& x = (*obs)[i * kObs + k];
        if (k < kFloats)
          (*floats)[i * kFloats + k] = x;
        else
          x = (*bytes)[i * (kObs - kFloats) + k - kFloats] = static_cast<uint8_t>(std::clamp(2 + x, 0.f, 255.f));
      }
    }
  }

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
    if (actions_.several_obs) {
      Divide(&obs_.data, &floats_.data, &bytes_.data);
      Divide(&final_obs_.data, &final_floats_.data, &final_bytes_.data);
    }
    if (sees())
      for (auto* each : {&image_.data, &final_image_.data})
        for (uint8_t& x : *each) x = static_cast<uint8_t>(bp_rng_below(&rng_, 256));
    for (float& x : reward_.data) x = static_cast<float>(3 * bp_rng_normal(&rng_) + 1);
    for (uint8_t& m : mask_.data) m = bp_rng_uniform(&rng_) < .7;
    for (size_t i = 0, n = 0; i < mask_.data.size();)  // one choice at least is allowed
      for (const int64_t choices : actions_.choices) mask_.data[i + n++ % choices] = 1, i += choices;
    final_index_.data.clear();
    for (int64_t i = 0; i < kSteps * kRows; ++i) {
      const double draw = bp_rng_uniform(&rng_);
      terminated_.data[i] = draw<.1, truncated_.data[i] = draw> .9;
      if (terminated_.data[i] || truncated_.data[i]) final_index_.data.push_back(i);
    }
    final_image_.shape[0] = final_floats_.shape[0] = final_bytes_.shape[0] = static_cast<int64_t>(final_index_.data.size());
    final_index_.shape[0] = final_obs_.shape[0] = final_memory_->shape[0] = static_cast<int64_t>(final_index_.data.size());
    count_.data[0] = kSteps * kRows;
    for (int64_t k = 0; k < kObs; ++k) {
      double mean = 0, m2 = 0;
      for (int64_t i = 0; i < kSteps * kRows; ++i) mean += obs_.data[i * kObs + k] / count_.data[0];
      for (int64_t i = 0; i < kSteps * kRows; ++i) m2 += (obs_.data[i * kObs + k] - mean) * (obs_.data[i * kObs + k] - mean);
      mean_.data[k] = mean, m2_.data[k] = m2;
    }
  }

  const Actions actions_;
  std::vector<const char*> action_names_, choice_names_;
  std::vector<std::function<bp_tensor(int64_t t)>> action_entries_;
  std::vector<bp_tensor*> action_tensors_;
  int64_t size_ = 0;  // of a row's memory
  std::unique_ptr<Buffer<float>> memory_, final_memory_;
  bp_rng rng_{5, 0};
  uint64_t step_ = 0;
  Buffer<float> obs_{{kSteps + 1, kRows, kObs}}, reward_{{kSteps, kRows}}, logp_{{kSteps, kRows}}, value_{{kSteps, kRows}},
      action_, raw_, final_obs_{{kSteps * kRows, kObs}}, floats_{{kSteps + 1, kRows, kFloats}},
      final_floats_{{kSteps * kRows, kFloats}};
  Buffer<int32_t> choice_;
  Buffer<uint8_t> bits_, mask_, image_, final_image_, bytes_{{kSteps + 1, kRows, kObs - kFloats}},
      final_bytes_{{kSteps * kRows, kObs - kFloats}};
  Buffer<uint8_t> terminated_{{kSteps, kRows}}, truncated_{{kSteps, kRows}};
  Buffer<int64_t> final_index_{{kSteps * kRows}};
  Buffer<double> count_{{1}}, mean_{{kObs}}, m2_{{kObs}};
};

struct Case {
  const char* name;
  Settings change;
  Actions actions = kContinuous;
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
                            {"choices", trial.choice_names()},
                            {"base", nullptr}};
  if (c.different) request["base"] = OptionsOf(*bp_module_v1()->descriptor(0), base);
  for (const double progress : {0., .25, .5}) {
    request["rollouts"].push_back(trial.Iterate(progress));
    request["after"].push_back(Hex(trial.Saved()));
    request["progress"].push_back(progress);
  }
  ExpectTheOraclesUpdate(request, c.different);
}

const Settings kEntropy = {{"entropy_coeff", "0.3"}}, kFreeGradient = {{"grad_clip", "0"}}, kSmallSteps = {{"lr", "0.0003"}},
               kMemory = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 4})"}},
               kUneven = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 10})"}};

const Case kCases[] = {
    {"Continuous", {}, kContinuous, {}, false},
    {"Discrete", {}, kDiscrete, {}, false},
    {"Masked", {}, kMasked, {}, false},
    {"MultiDiscrete", {}, kMultiDiscrete, {}, false},
    {"MultiDiscreteMasked", {}, kMaskedChoices, {}, false},
    {"MultiBinary", {}, kMultiBinary, {}, false},
    {"Mixed", {}, kMixed, {}, false},
    {"MixedMasked", {}, kMixedMasked, {}, false},
    {"NumbersAndChoice", {}, kNumbersAndChoice, {}, false},
    {"TorchMultiDiscrete", {{"update_path", "torch"}}, kMaskedChoices, kEntropy, false},
    {"TorchMultiBinary", {{"update_path", "torch"}}, kMultiBinary, kEntropy, false},
    {"TorchMixed", {{"update_path", "torch"}}, kMixedMasked, kEntropy, false},
    {"EntropyCoeffMultiDiscrete", kEntropy, kMultiDiscrete},
    {"EntropyCoeffMultiBinary", kEntropy, kMultiBinary},
    {"EntropyCoeffMixed", kEntropy, kMixed},
    {"SeveralObs", {}, kSeveralObs, {}, false},
    {"SeveralObsMasked", {}, kSeveralObsMasked, {}, false},
    {"SeveralObsNormalized", {{"normalize_obs", "true"}}, kSeveralObs},
    {"SeveralObsTorch", {{"normalize_obs", "true"}, {"update_path", "torch"}}, kSeveralObsMasked, {}, false},
    {"SeveralObsMemory", kMemory, kSeveralObsMasked, {{"normalize_obs", "true"}}, false},
    {"Image", {}, kImage, kSmallSteps, false},
    {"PlanarImage", {}, kPlanarImage, With(kEntropy, kSmallSteps), false},
    {"ImageTorch", {{"update_path", "torch"}}, kPlanarImage, kSmallSteps, false},
    {"ImageShared", {{"share_layers", "true"}}, kImage, kSmallSteps, false},
    {"ImageNormalized", {{"normalize_obs", "true"}}, kImage, kSmallSteps, false},
    {"ImageWithoutLayers", {{"hidden", "[]"}}, kPlanarImage, kSmallSteps, false},
    {"ShareLayersMixed", {{"share_layers", "true"}}, kMixedMasked, kEntropy, false},
    {"MemoryMixed", kMemory, kMixed, kEntropy, false},
    {"FiveShardsMixed", {{"update_shards", "5"}}, kMixed, {}, false},
    {"Torch", {{"update_path", "torch"}}, kContinuous, {}, false},
    {"TorchMasked", {{"update_path", "torch"}}, kMasked, kEntropy, false},
    {"OneShard", {{"update_shards", "1"}}, kMasked, {}, false},
    {"FiveShards", {{"update_shards", "5"}}, kContinuous, {}, false},
    {"MinibatchSize", {{"minibatch_size", "9"}}},  // parts of unequal size
    {"WholeBatch", {{"minibatch_size", "100"}}},
    {"NumEpochs", {{"num_epochs", "5"}}},
    {"Lr", {{"lr", "0.003"}}},
    {"LrLinear", {{"lr_schedule", "linear"}}},
    {"LrKlAdaptive", {{"lr_schedule", "kl_adaptive"}}, kContinuous, {{"kl_target", "0.5"}, {"lr", "0.002"}}},
    // The mean over nine minibatches is between half of the target and twice the target.
    {"LrKlAdaptiveStays", {{"lr_schedule", "kl_adaptive"}}, kContinuous, {{"kl_target", "0.0006"}, {"lr", "0.002"}}, false},
    {"LrKlAdaptiveFalls", {{"lr_schedule", "kl_adaptive"}}, kDiscrete, {{"kl_target", "0.000001"}}},
    {"Gamma", {{"gamma", "0.7"}}},
    {"Lambda", {{"lambda", "0.5"}}},
    {"ClipParam", {{"clip_param", "0.05"}}},
    {"ClipLinear", {{"clip_schedule", "linear"}}, kContinuous, {{"clip_param", "0.1"}}},
    {"NoVfClip", {{"vf_clip", "false"}}},
    {"VfClipParam", {{"vf_clip_param", "0.02"}}},
    {"EntropyCoeff", kEntropy, kContinuous},
    {"EntropyCoeffDiscrete", kEntropy, kDiscrete},
    {"EntropyCoeffMasked", kEntropy, kMasked},
    {"EntropyLinear", {{"entropy_schedule", "linear"}}, kMasked, kEntropy},
    {"VfLossCoeff", {{"vf_loss_coeff", "2"}}},
    {"GradClip", {{"grad_clip", "0.05"}}, kContinuous, {{"num_epochs", "1"}}},
    {"NoGradClip", kFreeGradient},
    {"KlTargetStops", {{"kl_target", "0.002"}}},
    {"NoAdvantageNormalization", {{"normalize_advantages", "false"}}},
    {"NormalizeObs", {{"normalize_obs", "true"}}},
    {"NormalizeRewards", {{"normalize_rewards", "true"}}},
    {"NormalizeBothMasked", {{"normalize_obs", "true"}, {"normalize_rewards", "true"}}, kMasked},
    {"VfHidden", {{"vf_hidden", "[7]"}}, kContinuous, {}, false},
    {"ShareLayers", {{"share_layers", "true"}}, kContinuous, {}, false},
    {"ShareLayersMasked", {{"share_layers", "true"}}, kMasked, kEntropy, false},
    {"Relu", {{"activation", "relu"}}, kContinuous, {}, false},
    {"LogStdInit", {{"log_std_init", "-1"}}, kContinuous, {}, false},
    {"UniformInit", {{"ortho_init", "false"}}, kDiscrete, {}, false},
    {"Memory", kMemory, kContinuous, {}, false},
    {"MemoryMasked", kMemory, kMasked, kEntropy, false},
    {"MemoryDiscrete", kMemory, kDiscrete, {{"normalize_obs", "true"}, {"normalize_rewards", "true"}}, false},
    {"MemoryShared", kMemory, kContinuous, {{"share_layers", "true"}}, false},
    {"MemoryWithoutLayers", kMemory, kContinuous, {{"hidden", "[]"}}, false},
    {"MemorySde", kMemory, kContinuous, {{"use_sde", "true"}}, false},
    {"MemoryFiveShards", kMemory, kContinuous, {{"update_shards", "5"}}, false},
    // The rollout's 16 steps are a sequence of 10 and one of 6.
    {"MemoryUnevenSequences", kUneven, kContinuous, {{"minibatch_size", "25"}}, false},
    {"MemoryOfOneStep", {{"memory", R"({"kind": "gru", "size": 5, "sequence": 1})"}}, kDiscrete, {}, false},
    {"MemorySequence", kUneven, kContinuous, With(kMemory, {{"minibatch_size", "100"}})},
    {"Sde", {{"use_sde", "true"}, {"sde_sample_freq", "4"}}, kContinuous, kEntropy, false},
    {"SdeTorch", {{"use_sde", "true"}, {"update_path", "torch"}}, kContinuous, kEntropy, false},
};
INSTANTIATE_TEST_SUITE_P(, PpoUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

// Four minibatches five times, with a learning rate that is in use.
void ExpectTwentyStepsWithinRounding(const Settings& more, const std::vector<Actions>& all) {
  for (const Actions& actions : all) {
    const Settings options =
        With(With(kBase, more), {{"minibatch_size", "12"}, {"num_epochs", "5"}, {"lr", "0.0003"}, {"hidden", "[16]"}});
    Trial trial(options, actions);
    nlohmann::json request = {{"seed", Trial::kSeed},
                              {"before", Hex(trial.Saved())},
                              {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
                              {"choices", trial.choice_names()},
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

TEST(PpoMemoryUpdate, StaysWithinRoundingForTwentySteps) {
  ExpectTwentyStepsWithinRounding(kMemory, {kContinuous, kMasked});  // minibatches of three sequences
}

TEST(PpoActionsUpdate, StaysWithinRoundingForTwentySteps) {
  ExpectTwentyStepsWithinRounding({},
                                  {kContinuous, kMasked, kMultiDiscrete, kMaskedChoices, kMultiBinary, kMixed, kMixedMasked});
}

TEST(PpoImageUpdate, StaysWithinRoundingForTwentySteps) { ExpectTwentyStepsWithinRounding({}, {kImage, kPlanarImage}); }

}  // namespace
}  // namespace backplane::parity
