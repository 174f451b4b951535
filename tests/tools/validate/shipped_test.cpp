// Every shipped plugin keeps every rule.
#include <filesystem>
#include <map>
#include <set>

#include "places.hpp"
#include "support/summaries.hpp"
#include "validated.hpp"

namespace backplane {
namespace {

using test_support::Validated;

const char* const kShipped[] = {
    "env_acrobot",
    "env_action_repeat",
    "env_ant",
    "env_ball_catch",
    "env_cartpole",
    "env_clip_reward",
    "env_flatten",
    "env_frame_stack",
    "env_half_cheetah",
    "env_hopper",
    "env_humanoid",
    "env_humanoid_standup",
    "env_inverted_double_pendulum",
    "env_inverted_pendulum",
    "env_mountain_car",
    "env_mountain_car_continuous",
    "env_pendulum",
    "env_pusher",
    "env_quadruped_stand",
    "env_reacher",
    "env_sticky_actions",
    "env_summarization",
    "env_swimmer",
    "env_time_limit",
    "env_uav_grid",
    "env_uav_grid_tensor",
    "env_walker2d",
    "learner_ars",
    "learner_dqn",
    "learner_mappo",
    "learner_ppo",
    "learner_random",
    "learner_sac",
    "learner_seq2seq",
    "learner_td3",
    "learner_uav_scripted",
    "monitor_resources",
    "monitor_tensorboard",
    "monitor_trace",
};

// Each case would start an interpreter per instance, three minutes in total: tests/plugins/envs and tests/end_to_end have their
// tests.
const char* const kInPython[] = {"env_gymnasium", "env_pettingzoo", "learner_python", "monitor_python"};

std::string ShippedFile(const std::string& name) { return BACKPLANE_PLUGIN_DIR "/" + name + ".so"; }

class ShippedPlugin : public testing::TestWithParam<const char*> {};

TEST_P(ShippedPlugin, KeepsEveryRule) {
  if (!std::filesystem::exists(ShippedFile(GetParam()))) GTEST_SKIP() << "is not built here";
  Validated plugin(ShippedFile(GetParam()), "");
  if (GetParam() == std::string("env_summarization")) {
    const nlohmann::json needed = Summaries::Instance().options();
    for (const auto& [option, value] : needed.items()) plugin.Give(option, value);
  }
  // Small options keep the test short; findings do not depend on them.
  const nlohmann::json replay = {{"horizon", 20},  {"learning_starts", 16}, {"batch_size", 16},
                                 {"hidden", {16}}, {"buffer_size", 1000},   {"lr", 0.01}};
  const std::map<std::string, nlohmann::json> small = {
      {"env_time_limit", {{"max_episode_steps", 4}}},
      {"learner_dqn", replay},
      {"learner_mappo", {{"train_batch_size", 128}, {"hidden", {16}}}},
      {"learner_ppo", {{"train_batch_size", 256}, {"minibatch_size", 64}}},
      {"learner_sac", replay},
      {"learner_td3", replay},
      {"learner_seq2seq",
       {{"d_model", 16},
        {"encoder_layers", 1},
        {"decoder_layers", 1},
        {"encoder_attention_heads", 2},
        {"decoder_attention_heads", 2},
        {"encoder_ffn_dim", 16},
        {"decoder_ffn_dim", 16},
        {"learning_rate", 0.01}}},
  };
  if (const auto found = small.find(GetParam()); found != small.end())
    for (const auto& [option, value] : found->second.items()) plugin.Give(option, value);
  const std::vector<PluginInfo> grid = std::filesystem::exists(ShippedFile("env_uav_grid"))
                                           ? ReadPlugins(ShippedFile("env_uav_grid"))
                                           : std::vector<PluginInfo>();
  if (GetParam() == std::string("learner_uav_scripted")) {
    plugin.setting.env = &grid.front();
    plugin.setting.env_options = Validated(ShippedFile("env_uav_grid"), "").setting.options;
  }
  plugin.NeedGood();
}

INSTANTIATE_TEST_SUITE_P(Plugins, ShippedPlugin, testing::ValuesIn(kShipped),
                         [](const auto& tested) { return std::string(tested.param); });

// Either the env or the learner may ask for a part or for LibTorch.
TEST(Shipped, ALearnerIsTriedInAnEnvThatNeedsLibTorch) {
  const std::string env = ShippedFile("env_uav_grid_tensor");
  if (!std::filesystem::exists(env)) GTEST_SKIP() << "is not built here";
  const Validated tensor(env, "");
  Validated learner(ShippedFile("learner_random"), "");
  learner.setting.env = &tensor.info();
  learner.setting.env_options = tensor.setting.options;
  const CaseResult result = learner.Run("act-is-sound");
  EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << result.note << result.found;
}

// The env that the guide shows.
TEST(Shipped, ARowOfSeveralAgentsKeepsEveryRule) {
  Validated(BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_couriers.so", "").NeedGood();
}

TEST(Shipped, GroupsOfAgentsKeepEveryRule) {
  const Validated env(BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_hunters.so", "");
  env.NeedGood();
  for (const char* name : {"learner_mappo", "learner_random"}) {
    Validated learner(ShippedFile(name), "");
    learner.setting.env = &env.info();
    const CaseResult result = learner.Run("act-is-sound");
    EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << name << ": " << result.note << result.found;
  }
}

TEST(Shipped, AreAllHere) {
  std::set<std::string> known(std::begin(kShipped), std::end(kShipped));
  known.insert(std::begin(kInPython), std::end(kInPython));
  for (const auto& entry : std::filesystem::directory_iterator(BACKPLANE_PLUGIN_DIR)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".so" || name.starts_with("lib")) continue;
    const bool part = ReadPlugins(entry.path()).front().kind == BP_KIND_PART;
    EXPECT_TRUE(part || known.contains(name)) << name;
  }
}

}  // namespace
}  // namespace backplane
