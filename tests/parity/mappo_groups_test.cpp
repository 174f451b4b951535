// Whole iterations of learner.mappo with two groups of agents, from the rollout to the weights, compared with mappo_oracle.py.
#include "agent_groups.hpp"
#include "driven_learner.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using test_support::AgentRollout;
using test_support::DrivenLearner;
using test_support::GroupedRollout;

constexpr uint64_t kSeed = 11;
constexpr int64_t kMemorySize = 7;

class GroupTrial : public DrivenLearner {
 public:
  explicit GroupTrial(const Settings& options)
      : DrivenLearner(options), rollout_(options.contains("memory") ? kMemorySize : 0) {
    Create(rollout_.spec, rollout_.shape().rows, kSeed);
  }

  // One rollout and its update; returns the delivered rollout.
  nlohmann::json Iterate(uint64_t number, double progress) {
    Plan(progress);
    rollout_.Fill(number);
    for (int64_t t = 0; t < rollout_.shape().steps; ++t) {
      std::vector<bp_tensor> in = rollout_.In(t), out = rollout_.Out(t);
      std::vector<bp_tensor*> ins = AgentRollout::Pointers(in), outs = AgentRollout::Pointers(out);
      const auto rows = static_cast<uint64_t>(rollout_.shape().rows);
      EXPECT_EQ(Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, rows, 0, 7, step_++, ins.data(), outs.data()}), BP_OK) << error();
      rollout_.ClearMemory(t);
    }
    const bp_delivery& delivery = rollout_.delivery().raw();
    EXPECT_EQ(Learn(Consume(delivery), progress), BP_OK) << error();
    return AsJson(delivery);
  }

 private:
  GroupedRollout rollout_;
  uint64_t step_ = 0;
};

const Settings kBase = {
    {"train_batch_size", "36"}, {"num_minibatches", "3"}, {"num_epochs", "3"}, {"hidden", "[8, 6]"}, {"lr", "0.01"}};

nlohmann::json RequestOf(GroupTrial& trial, const Settings& options) {
  const std::vector<std::pair<std::string, int64_t>> groups = {{"pair", GroupedRollout::kPair},
                                                               {"solo", GroupedRollout::kSolo}};
  return {{"seed", kSeed},
          {"agents", GroupedRollout::kPair + GroupedRollout::kSolo},
          {"groups", groups},
          {"before", Hex(trial.Saved())},
          {"options", OptionsOf(*bp_module_v1()->descriptor(0), options)},
          {"base", nullptr}};
}

struct GroupCase {
  const char* name;
  Settings change;
};
void PrintTo(const GroupCase& c, std::ostream* out) { *out << c.name; }

class MappoGroupsUpdate : public ::testing::TestWithParam<GroupCase> {};

TEST_P(MappoGroupsUpdate, EqualsTheOracle) {
  const Settings options = With(kBase, GetParam().change);
  GroupTrial trial(options);
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  nlohmann::json request = RequestOf(trial, options);
  uint64_t number = 0;
  for (const double progress : {0., .25, .5}) {
    request["rollouts"].push_back(trial.Iterate(++number, progress));
    request["after"].push_back(Hex(trial.Saved()));
    request["progress"].push_back(progress);
  }
  ExpectTheOraclesUpdate(request, false);
}

const GroupCase kCases[] = {
    {"Plain", {}},
    {"Torch", {{"update_path", "torch"}}},
    {"Independent", {{"critic", "independent"}}},
    {"MinibatchSize", {{"minibatch_size", "20"}}},
    {"MoreMinibatchesThanSamples", {{"num_minibatches", "30"}}},
    {"SeparateGradClip", {{"separate_grad_clip", "true"}, {"grad_clip", "0.05"}}},
    {"GradClip", {{"grad_clip", "0.05"}}},
    {"ValueNorm", {{"value_norm", "true"}}},
    {"KlTarget", {{"kl_target", "0.002"}}},
    {"AdvantagesOfTheIteration", {{"normalize_advantages", "iteration"}}},
    {"Memory", {{"memory", R"({"kind": "gru", "size": 7, "sequence": 4})"}}},
};
INSTANTIATE_TEST_SUITE_P(, MappoGroupsUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<GroupCase>& tested) { return std::string(tested.param.name); });

// Four minibatches five times, with a learning rate that is in use.
TEST(MappoGroups, StayWithinRoundingForTwentySteps) {
  for (const char* path : {"fused", "torch"}) {
    const Settings options =
        With(kBase, {{"num_minibatches", "4"}, {"num_epochs", "5"}, {"lr", "0.0003"}, {"update_path", path}});
    GroupTrial trial(options);
    ASSERT_EQ(trial.status(), BP_OK) << trial.error();
    nlohmann::json request = RequestOf(trial, options);
    request["progress"].push_back(0.);
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
    EXPECT_EQ(metrics["train/entropy/pair"].size(), 20);
    EXPECT_EQ(metrics["train/reward/solo"].size(), 1);
  }
}

}  // namespace
}  // namespace backplane::parity
