// Opening an env: names, options, and errors in the words of the experiment file's reader.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "env.hpp"
#include "places.hpp"

namespace backplane::embed_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kFixtures[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

// Returns the status and the error text.
std::pair<bp_status, std::string> Open(const char* so, const char* id, const char* options, uint64_t rows = 1,
                                       uint32_t threads = 1) {
  bp_embed* handle = nullptr;
  const bp_status status = bp_embed_open(so, id, options, rows, 1, threads, &handle);
  if (status == BP_OK) bp_embed_close(handle);
  return {status, bp_embed_error()};
}

TEST(Open, AcceptsIdsAliasesAndFiles) {
  for (const char* name : {"cartpole", "env.cartpole", "CartPole-v1"}) EXPECT_EQ(Env(name).Spec().at("id"), "env.cartpole");
  const std::string file = std::string(BACKPLANE_PLUGIN_DIR) + "/env_cartpole.so";
  EXPECT_EQ(Env(nullptr, 1, nullptr, 1, 1, file.c_str()).Spec().at("id"), "env.cartpole");
  EXPECT_EQ(Env("cartpole", 1, nullptr, 1, 1, file.c_str()).Spec().at("file"), file);
  EXPECT_THAT(Open(file.c_str(), "pendulum", nullptr).second, HasSubstr("there is no env 'pendulum'"));
}

TEST(Open, ListsOptionsThatTheEnvDoesNotHave) {
  Open(nullptr, "ant", R"({"frame_skip": 2, "frame_skp": 1, "other": 1})");
  EXPECT_STREQ(bp_embed_unknown_options(), R"(["frame_skp","other"])");
  Open(nullptr, "ant", R"({"frame_skip": 0})");
  EXPECT_STREQ(bp_embed_unknown_options(), "[]") << "a bad value is a different error";
}

TEST(Open, SuggestsANearName) {
  EXPECT_THAT(Open(nullptr, "cartpol", nullptr).second, AllOf(StartsWith("there is no env 'cartpol'; did you mean 'cartpole'"),
                                                              HasSubstr("BACKPLANE_PLUGIN_PATH adds a folder")));
  EXPECT_EQ(Open(nullptr, nullptr, nullptr).second, "expected a plugin file or an env's id, got neither");
  EXPECT_THAT(Open("/nowhere/env.so", nullptr, nullptr).second, HasSubstr("/nowhere/env.so"));
  EXPECT_EQ(bp_embed_open(nullptr, "cartpole", nullptr, 1, 1, 1, nullptr), BP_E_INVALID_ARG);
}

TEST(Open, AddsTheFoldersOfThePluginPath) {
  ASSERT_EQ(Open(nullptr, "good", nullptr).first, BP_E_INVALID_ARG);
  setenv("BACKPLANE_PLUGIN_PATH", kFixtures, 1);
  EXPECT_EQ(Open(nullptr, "good", nullptr), std::pair(bp_status{BP_OK}, std::string()));
  unsetenv("BACKPLANE_PLUGIN_PATH");
}

TEST(Open, KeepsToAnInstallationThatIsNamed) {
  setenv("BACKPLANE_HOME", "/nowhere", 1);
  EXPECT_THAT(Open(nullptr, "cartpole", nullptr).second, HasSubstr("/nowhere/lib/backplane/plugins"));
  unsetenv("BACKPLANE_HOME");
}

TEST(Options, AreCheckedByTheEnvsTable) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"max_episode_steps": 0})", "env.options.max_episode_steps: 0 is out of range [1,)"},
      {R"({"max_episode_step": 3})", "env.cartpole has no option 'max_episode_step'; did you mean 'max_episode_steps'?"},
      {R"({"max_episode_steps": "x"})", "env.options.max_episode_steps: expected an integer, got the text 'x'"},
      {R"([1])", "env.options: expected a mapping, got a list"},
      {R"({"max_episode_steps": 0, "g": 3})",
       "env.cartpole has no option 'g'\nenv.options.max_episode_steps: 0 is out of range [1,)"},
  };
  for (const auto& [options, sentence] : kCases)
    EXPECT_EQ(Open(nullptr, "cartpole", options), std::pair(bp_status{BP_E_CONFIG}, std::string(sentence)));
  EXPECT_THAT(Open(nullptr, "cartpole", "{max_episode_steps: 3}").second, StartsWith("options: expected a JSON object"));
  EXPECT_EQ(Env("cartpole", 1, R"({"max_episode_steps": 7})").Spec().at("max_episode_steps"), 7);
  EXPECT_EQ(Env("pendulum", 1, R"({"g": 9.81})").Spec().at("options").at("g"), 9.81);
  EXPECT_EQ(Env("pendulum", 1, "null").Spec().at("options").at("g"), 10.0);
}

#if defined(HAS_MUJOCO)
TEST(Options, MayGoByTheirOtherNames) {
  EXPECT_EQ(Env("ant", 1, R"({"healthy_z_range": [0.3, 0.9]})").Spec().at("options").at("healthy_z_max"), 0.9);
  EXPECT_EQ(Open(nullptr, "ant", R"({"frame_skip": 0})").second, "env.options.frame_skip: 0 is out of range [1,1000]");
  EXPECT_THAT(Open(nullptr, "ant", R"({"xml_file": "caf\u00e9.xml"})").second, HasSubstr("/café.xml"));
  EXPECT_THAT(Open(nullptr, "ant", R"({"healthy_z_min": 2})").second,
              AllOf(HasSubstr("healthy_z_min"), HasSubstr("healthy_z_max")));
}
#endif

TEST(Open, RowsAndThreadsHaveLimits) {
  EXPECT_EQ(Open(nullptr, "cartpole", nullptr, 0).second, "rows: expected 1 to 4294967296, got 0");
  EXPECT_EQ(Open(nullptr, "cartpole", nullptr, uint64_t{1} << 33).first, BP_E_INVALID_ARG);
  EXPECT_EQ(Open(nullptr, "cartpole", nullptr, 1, 5000).second, "threads: expected 0 to 4096, got 5000");
  EXPECT_EQ(Env("cartpole", 3, nullptr, 1, 8).Spec().at("threads"), 3) << "never more than rows";
}

TEST(Open, RejectsAnEnvOfLibTorch) {
  const std::string file = std::string(kFixtures) + "/env_other_torch.so";
  const auto [status, text] = Open(file.c_str(), nullptr, nullptr);
  EXPECT_EQ(status, BP_E_UNSUPPORTED);
  EXPECT_THAT(text, StartsWith("env.other_torch: is built against LibTorch 0.0.1+elsewhere"));
}

TEST(Open, ReportsFailuresOfAnEnv) {
  for (const char* name : {"create_fails", "create_throws", "init_fails", "no_table", "short_table"}) {
    const std::string file = std::string(kFixtures) + "/env_" + name + ".so";
    const auto [status, text] = Open(file.c_str(), nullptr, nullptr);
    EXPECT_LT(status, 0) << name;
    EXPECT_THAT(text, HasSubstr(name));
  }
}

TEST(Spec, ListsChannelsAndAgents) {
  const Env env("uav_grid", 2);
  const nlohmann::json spec = env.Spec();
  EXPECT_EQ(spec.at("agents"), 10);
  const auto channel = [&](const std::string& name) {
    for (const auto& one : spec.at("channels"))
      if (one.at("name") == name) return one;
    return nlohmann::json();
  };
  EXPECT_EQ(channel("obs").at("scope"), "agent");
  EXPECT_EQ(channel("obs").at("tensor"), nlohmann::json({20, 174}));
  EXPECT_EQ(channel("final_obs").at("tensor"), nlohmann::json({20, 174}));
  EXPECT_EQ(channel("final_state").at("tensor"), nlohmann::json({2, 1681}));
  EXPECT_EQ(channel("action").at("nvec"), nlohmann::json({9}));
  EXPECT_EQ(channel("action_mask").at("role"), "action_mask");
  EXPECT_EQ(channel("action_mask").at("dtype"), "uint8");
  EXPECT_EQ(channel("truncated").at("by"), "host");
  const bp_view view = env.Tensor("obs");
  EXPECT_EQ(view.strides[0], 174);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % 64, 0u);
  EXPECT_EQ(env.Tensor("obs").data, view.data);
  const Env bytes("uav_grid", 2, R"({"patch_dtype": "int8"})");
  EXPECT_EQ(bytes.Tensor("final_patch").shape[1], 121) << "the final value of a second OBS channel";
  EXPECT_EQ(bytes.Tensor("final_map").shape[1], 1600);
  const nlohmann::json cart = Env("cartpole").Spec();
  EXPECT_EQ(cart.at("state"), nlohmann::json::parse(R"([{"name": "state", "size": 4}])"));
  EXPECT_EQ(cart.at("channels")[0].at("high"), nlohmann::json::parse("[4.8, null, 0.41887902047863906, null]"));
}

TEST(Envs, AreListedUnloaded) {
  const nlohmann::json envs = nlohmann::json::parse(bp_embed_envs());
  std::vector<std::string> ids;
  for (const auto& env : envs) ids.push_back(env.at("id"));
  EXPECT_THAT(ids, Contains("env.cartpole"));
  for (const auto& env : envs)
    if (env.at("id") == "env.uav_grid_tensor") {
      EXPECT_THAT(std::string(env.at("refused")), HasSubstr("LibTorch"));
    }
}

}  // namespace
}  // namespace backplane::embed_test
