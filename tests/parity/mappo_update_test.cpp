// Whole iterations of learner.mappo, from the rollout to the weights, compared with mappo_oracle.py.
#include "agents.hpp"
#include "driven_learner.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using test_support::AgentEnv;
using test_support::AgentRollout;
using test_support::AgentShape;
using test_support::Buffer;
using test_support::DrivenLearner;

constexpr uint64_t kSeed = 11;

class Trial : public DrivenLearner {
 public:
  Trial(const Settings& options, const AgentShape& shape) : DrivenLearner(options), env_(shape), rollout_(shape) {
    Create(env_.spec, shape.rows, kSeed);
    size_ = carry();
    memory_ = std::make_unique<Buffer<float>>(std::vector<int64_t>{shape.steps + 1, rollout_.all, size_});
    if (size_ > 0) rollout_.memory = &memory_->tensor;
  }

  // One rollout and its update; returns the delivered rollout.
  nlohmann::json Iterate(uint64_t number, double progress) {
    Plan(progress);
    rollout_.Fill(number);
    for (float& x : rollout_.reward.data) x = 20 * x + 10;  // reward_scale is small
    const int64_t entry = rollout_.all * size_;
    std::copy_n(memory_->data.end() - entry, entry, memory_->data.begin());
    for (int64_t t = 0; t < rollout_.shape.steps; ++t) {
      std::vector<bp_tensor> in = rollout_.In(t), out = rollout_.Out(t);
      if (size_ > 0) in.push_back(memory_->Entry(t)), out.push_back(memory_->Entry(t + 1));
      std::vector<bp_tensor*> ins = rollout_.Pointers(in), outs = rollout_.Pointers(out);
      const auto rows = static_cast<uint64_t>(rollout_.shape.rows);
      EXPECT_EQ(Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, rows, 0, 7, step_++, ins.data(), outs.data()}), BP_OK) << error();
      // As the host does, the next episode starts with zeros.
      for (int64_t row = 0; row < rollout_.shape.rows; ++row) {
        const int64_t i = t * rollout_.shape.rows + row, n = rollout_.shape.agents * size_;
        if (rollout_.terminated.data[i] || rollout_.truncated.data[i])
          std::fill_n(memory_->data.begin() + (t + 1) * entry + row * n, n, 0.f);
      }
    }
    const bp_delivery& delivery = rollout_.delivery().raw();
    EXPECT_EQ(Learn(Consume(delivery), progress), BP_OK) << error();
    return AsJson(delivery);
  }

 private:
  AgentEnv env_;
  AgentRollout rollout_;
  int64_t size_ = 0;  // of an agent's memory
  std::unique_ptr<Buffer<float>> memory_;
  uint64_t step_ = 0;
};

struct Case {
  const char* name;
  Settings change;
  Settings beside = {};   // needed for an effect of the option; set in both runs
  bool different = true;  // from the same without `change`
  AgentShape shape = {};
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Settings kBase = {
    {"train_batch_size", "36"}, {"num_minibatches", "3"}, {"num_epochs", "3"}, {"hidden", "[8, 6]"}, {"lr", "0.01"}};

class MappoUpdate : public ::testing::TestWithParam<Case> {};

TEST_P(MappoUpdate, EqualsTheOracle) {
  const Case& c = GetParam();
  const Settings base = With(kBase, c.beside), options = With(base, c.change);
  Trial trial(options, c.shape);
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  nlohmann::json request = {{"seed", kSeed},
                            {"agents", c.shape.agents},
                            {"before", Hex(trial.Saved())},
                            {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
                            {"base", nullptr}};
  if (c.different) request["base"] = OptionsOf(*bp_module_v1()->descriptor(0), base);
  uint64_t number = 0;
  for (const double progress : {0., .25, .5}) {
    request["rollouts"].push_back(trial.Iterate(++number, progress));
    request["after"].push_back(Hex(trial.Saved()));
    request["progress"].push_back(progress);
  }
  ExpectTheOraclesUpdate(request, c.different);
}

const Settings kValueNorm = {{"value_norm", "true"}}, kVfClip = {{"vf_clip", "true"}},
               kMemory = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 4})"}},
               kUneven = {{"memory", R"({"kind": "gru", "size": 7, "sequence": 5})"}};

const AgentShape kContinuous{.actions = 0, .has_mask = false, .numbers = 3}, kChoices{.actions = 3, .more = 4},
    kBits{.actions = 0, .has_mask = false, .bits = 3}, kMixed{.actions = 3, .more = 2, .numbers = 2, .bits = 2};
const Settings kTorch = {{"update_path", "torch"}}, kEntropy = {{"entropy_coeff", "0.4"}};

const Case kCases[] = {
    {"Plain", {}, {}, false},
    {"Torch", {{"update_path", "torch"}}, {}, false},
    {"TorchWithAll",
     {{"update_path", "torch"},
      {"value_norm", "true"},
      {"huber_delta", "0.3"},
      {"vf_clip", "true"},
      {"separate_grad_clip", "true"}},
     {},
     false},
    {"OneShard", {{"update_shards", "1"}}, {}, false},
    {"FiveShards", {{"update_shards", "5"}}, {}, false},
    {"NoState", {{"critic", "independent"}}, {}, false, {.has_state = false}},
    {"NoMask", {}, {}, false, {.has_mask = false}},
    {"AllAlive", {}, {}, false, {.has_alive = false, .has_ended = false}},
    {"NoEnded", {}, {}, false, {.has_ended = false}},
    {"DenseInputs", {}, {}, false, {.zeros = 0}},
    {"Independent", {{"critic", "independent"}}, {}, false},
    {"Memory", kMemory, {}, false},
    {"MemoryMinibatchSize", kMemory, {{"minibatch_size", "25"}}, false},
    {"MemoryUnevenSequences", kUneven, {{"critic", "independent"}, {"value_norm", "true"}}, false},
    {"MemoryFiveShards", kMemory, {{"update_shards", "5"}}, false},
    {"MemoryAllAlive", kUneven, {}, false, {.has_alive = false, .has_ended = false}},
    {"MemoryDenseInputs", kMemory, {}, false, {.zeros = 0}},
    {"MemorySequence", kUneven, kMemory},
    {"Continuous", {}, {}, false, kContinuous},
    {"ContinuousTorch", kTorch, kEntropy, false, kContinuous},
    {"ContinuousFiveShards", {{"update_shards", "5"}}, {}, false, kContinuous},
    {"ContinuousSeparateGradClip", {{"separate_grad_clip", "true"}}, {}, true, kContinuous},
    {"ContinuousEntropyCoeff", kEntropy, {}, true, kContinuous},
    {"ContinuousLogStdInit", {{"log_std_init", "-1"}}, {}, false, kContinuous},
    {"ContinuousMemory", kMemory, {}, false, kContinuous},
    {"Choices", {}, kEntropy, false, kChoices},
    {"Bits", {}, kEntropy, false, kBits},
    {"Mixed", {}, kEntropy, false, kMixed},
    {"MixedTorch", kTorch, kEntropy, false, kMixed},
    {"MixedMemory", kMemory, kEntropy, false, kMixed},
    {"MinibatchSize", {{"minibatch_size", "20"}}},
    {"NumMinibatches", {{"num_minibatches", "1"}}},
    {"NumEpochs", {{"num_epochs", "5"}}},
    {"Lr", {{"lr", "0.003"}}},
    {"LrLinear", {{"lr_schedule", "linear"}}},
    {"Gamma", {{"gamma", "0.7"}}},
    {"Lambda", {{"lambda", "0.5"}}},
    {"ClipParam", {{"clip_param", "0.05"}}},
    {"EntropyCoeff", {{"entropy_coeff", "0.4"}}},
    {"EntropyLinear", {{"entropy_schedule", "linear"}}, {{"entropy_coeff", "0.4"}}},
    {"VfLossCoeff", {{"vf_loss_coeff", "2"}}},
    {"GradClip", {{"grad_clip", "0.05"}}, {{"num_epochs", "1"}, {"num_minibatches", "4"}}},
    {"NoGradClip", {{"grad_clip", "0"}}},
    {"SeparateGradClip", {{"separate_grad_clip", "true"}}},
    {"VfClip", kVfClip},
    {"VfClipParam", {{"vf_clip_param", "0.02"}}, kVfClip},
    {"HuberDelta", {{"huber_delta", "0.3"}}},
    {"HuberDeltaAndVfClip", {{"huber_delta", "0.3"}}, kVfClip},
    {"ValueNorm", kValueNorm},
    {"ValueNormAndVfClip", kVfClip, kValueNorm},
    {"RewardScale", {{"reward_scale", "0.2"}}},
    {"AdvantagesOfTheIteration", {{"normalize_advantages", "iteration"}}},
    {"AdvantagesAsTheyAre", {{"normalize_advantages", "none"}}},
    {"KlTargetStops", {{"kl_target", "0.002"}}},
    {"VfHidden", {{"vf_hidden", "[7]"}}, {}, false},
    {"Relu", {{"activation", "relu"}}, {}, false},
    {"UniformInit", {{"ortho_init", "false"}}, {}, false},
};
INSTANTIATE_TEST_SUITE_P(, MappoUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

// Four minibatches five times, with a learning rate that is in use.
void ExpectTwentyStepsWithinRounding(const Settings& more, const AgentShape& shape) {
  const Settings options = With(With(kBase, {{"num_minibatches", "4"}, {"num_epochs", "5"}, {"lr", "0.0003"}}), more);
  Trial trial(options, shape);
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  nlohmann::json request = {{"seed", kSeed},
                            {"agents", shape.agents},
                            {"before", Hex(trial.Saved())},
                            {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
                            {"base", nullptr},
                            {"progress", {0.}}};
  request["rollouts"].push_back(trial.Iterate(1, 0));
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

TEST(MappoActionsUpdate, StaysWithinRoundingForTwentySteps) {
  for (const AgentShape& shape : {AgentShape(), kContinuous, kChoices, kBits, kMixed}) {
    ExpectTwentyStepsWithinRounding({}, shape);
    ExpectTwentyStepsWithinRounding(kTorch, shape);
  }
  ExpectTwentyStepsWithinRounding(kMemory, kContinuous);
}

}  // namespace
}  // namespace backplane::parity
