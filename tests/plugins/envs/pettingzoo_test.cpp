// Parallel envs of PettingZoo: a row's agents come and go. The interpreter is .venv-oracle's.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "places.hpp"
#include "support/env_harness.hpp"
#include "support/saved_env.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kPlugin = BACKPLANE_PLUGIN_DIR "/env_pettingzoo.so";
const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// Agent a leaves after 2 + a steps, the last one with a time limit. An observation is [agent, steps, last action].
constexpr const char* kLeavers = R"py(
import gymnasium, numpy
from pettingzoo import ParallelEnv

class Leavers(ParallelEnv):
    metadata = {"name": "leavers"}
    possible_agents = ["a", "b", "c"]

    def __init__(self, masked=False, differs=False, stateless=False, unpickled=False):
        if unpickled:
            self.lock = lambda: 0
        self.masked, self.differs, self.stateless = masked, differs, stateless

    def observation_space(self, agent):
        plain = gymnasium.spaces.Box(0, numpy.inf, (3,), numpy.float32)
        mask = gymnasium.spaces.MultiBinary(4)
        return gymnasium.spaces.Dict({"observation": plain, "action_mask": mask}) if self.masked else plain

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(5 if self.differs and agent == "b" else 4)

    def seen(self, agents, actions):
        all = {a: numpy.array([self.possible_agents.index(a), self.steps, actions.get(a, 0)], numpy.float32) for a in agents}
        mask = numpy.array([1, 0, 1, self.steps % 2], numpy.int8)
        return {a: {"observation": o, "action_mask": mask} for a, o in all.items()} if self.masked else all

    def reset(self, seed=None, options=None):
        self.agents, self.steps = list(self.possible_agents), 0
        return self.seen(self.agents, {}), {a: {} for a in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents), actions
        self.steps += 1
        were = self.agents
        gone = {a for a in were if self.steps == 2 + self.possible_agents.index(a)}
        self.agents = [a for a in were if a not in gone]
        ends = {a: a in gone and a != "c" for a in were}
        cuts = {a: a in gone and a == "c" for a in were}
        return self.seen(were, actions), {a: float(actions[a]) for a in were}, ends, cuts, {a: {} for a in were}

    def state(self):
        if self.stateless:
            raise NotImplementedError
        return numpy.array([self.steps, len(self.agents)], numpy.float32)
)py";

class PettingZoo : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system(("'" + kPython + "' -c 'import pettingzoo' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "no pettingzoo in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("pettingzoo_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "leavers.py") << kLeavers;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  json Leavers(const json& kwargs = json::object()) const {
    return {{"file", (folder_ / "leavers.py").string()}, {"class", "Leavers"}, {"kwargs", kwargs}, {"python", kPython}};
  }
  static std::string Refusal(const json& options) {
    try {
      harness::Env env(kPlugin, 2, 1, options);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

std::vector<std::string> Names(const harness::Env& env) {
  std::vector<std::string> names;
  for (uint64_t c = 0; c < env.spec().n_channels; ++c) names.push_back(env.spec().channels[c].name);
  return names;
}

template <class T>
std::vector<T> Of(const harness::Env& env, const std::string& channel, uint64_t row) {
  return std::vector<T>(env.At<T>(channel, row), env.At<T>(channel, row) + env.Size(channel));
}

TEST_F(PettingZoo, AgentsComeInTheirOrderAndLeave) {
  harness::Env env(kPlugin, 3, 1, Leavers());
  EXPECT_THAT(Names(env), ElementsAre("obs", "action", "alive", "state", "reward", "agent_ended", "agent_truncated",
                                      "terminated", "truncated"));
  EXPECT_EQ(env.spec().max_agents, 3u);
  ASSERT_EQ(env.Reset(0, {1, 2, 3}), BP_OK) << env.error();
  EXPECT_THAT(Of<uint8_t>(env, "alive", 2), ElementsAre(1, 1, 1));
  const auto step = [&] {
    for (int a = 0; a < 3; ++a) env.At<int32_t>("action", 1)[a] = a + 1;
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
  };
  step();
  EXPECT_THAT(Of<float>(env, "obs", 1), ElementsAre(0, 1, 1, 1, 1, 2, 2, 1, 3));
  EXPECT_THAT(Of<float>(env, "reward", 1), ElementsAre(1, 2, 3));
  EXPECT_THAT(Of<float>(env, "state", 1), ElementsAre(1, 3));
  EXPECT_THAT(Of<uint8_t>(env, "agent_ended", 1), ElementsAre(0, 0, 0));
  step();  // a leaves
  EXPECT_THAT(Of<uint8_t>(env, "alive", 1), ElementsAre(0, 1, 1));
  EXPECT_THAT(Of<float>(env, "obs", 1), ElementsAre(0, 0, 0, 1, 2, 2, 2, 2, 3));
  EXPECT_THAT(Of<uint8_t>(env, "agent_ended", 1), ElementsAre(1, 0, 0));
  step();  // b leaves; a has left and gets no action
  EXPECT_THAT(Of<float>(env, "reward", 1), ElementsAre(0, 2, 3));
  EXPECT_EQ(*env.At<uint8_t>("terminated", 1) + *env.At<uint8_t>("truncated", 1), 0);
  step();  // c is truncated, which ends the episode; it is visible until then
  EXPECT_EQ(*env.At<uint8_t>("terminated", 1), 0);
  EXPECT_EQ(*env.At<uint8_t>("truncated", 1), 1);
  EXPECT_THAT(Of<uint8_t>(env, "alive", 1), ElementsAre(0, 0, 1));
  EXPECT_THAT(Of<float>(env, "obs", 1), ElementsAre(0, 0, 0, 0, 0, 0, 2, 4, 3));
}

// Agents with equal spaces form a group, so b comes after c.
TEST_F(PettingZoo, AgentsWithDifferentSpacesFormGroups) {
  harness::Env env(kPlugin, 2, 1, Leavers({{"differs", true}}));
  EXPECT_THAT(Names(env),
              ElementsAre("group_1/obs", "group_1/action", "b/obs", "b/action", "alive", "state", "reward", "agent_ended",
                          "agent_truncated", "terminated", "truncated", "ep/return/group_1", "ep/return/b"));
  EXPECT_EQ(env.spec().max_agents, 3u);
  EXPECT_EQ(bp::GroupsOf(env.spec())[1].first, 2u);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  const auto step = [&] {
    for (int a = 0; a < 2; ++a) env.At<int32_t>("group_1/action", 1)[a] = a + 1;
    *env.At<int32_t>("b/action", 1) = 4;
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
  };
  step();
  EXPECT_THAT(Of<float>(env, "group_1/obs", 1), ElementsAre(0, 1, 1, 2, 1, 2));
  EXPECT_THAT(Of<float>(env, "b/obs", 1), ElementsAre(1, 1, 4));
  EXPECT_THAT(Of<float>(env, "reward", 1), ElementsAre(1, 2, 4));
  step();  // a leaves
  EXPECT_THAT(Of<uint8_t>(env, "alive", 1), ElementsAre(0, 1, 1));
  EXPECT_THAT(Of<float>(env, "group_1/obs", 1), ElementsAre(0, 0, 0, 2, 2, 2));
  EXPECT_EQ(*env.At<float>("ep/return/group_1", 1), 6);
  EXPECT_EQ(*env.At<float>("ep/return/b", 1), 8);
  step();  // b leaves
  EXPECT_THAT(Of<uint8_t>(env, "alive", 1), ElementsAre(0, 1, 0));
}

// The returns of groups are part of a row's state.
TEST_F(PettingZoo, GroupsResumeWithTheirReturns) {
  const json options = Leavers({{"differs", true}});
  harness::Env env(kPlugin, 1, 1, options), other(kPlugin, 1, 1, options);
  for (harness::Env* each : {&env, &other}) ASSERT_EQ(each->Reset(0, {1}), BP_OK) << each->error();
  *env.At<int32_t>("b/action", 0) = *other.At<int32_t>("b/action", 0) = 3;
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  ASSERT_EQ(harness::LoadedFrom(other, harness::Saved(env)), BP_OK) << other.error();
  for (harness::Env* each : {&env, &other}) ASSERT_EQ(each->Step(), BP_OK) << each->error();
  EXPECT_EQ(*env.At<float>("ep/return/b", 0), 6);
  EXPECT_EQ(*other.At<float>("ep/return/b", 0), 6);
}

// Pickle rejects its rows, which are then saved as seeds and actions.
TEST_F(PettingZoo, ARowIsPlayedAgain) {
  const json options = Leavers({{"unpickled", true}});
  harness::Env env(kPlugin, 1, 1, options), other(kPlugin, 1, 1, options);
  const auto step = [](harness::Env& e) {
    for (int a = 0; a < 3; ++a) e.At<int32_t>("action", 0)[a] = a + 1;
    ASSERT_EQ(e.Step(), BP_OK) << e.error();
  };
  ASSERT_EQ(env.Reset(0, {5}), BP_OK) << env.error();
  for (int t = 0; t < 2; ++t) step(env);
  ASSERT_EQ(harness::LoadedFrom(other, harness::Saved(env)), BP_OK) << other.error();
  step(env), step(other);
  EXPECT_EQ(env.Bytes(), other.Bytes());
  EXPECT_EQ(other.At<float>("state", 0)[0], 3);
}

TEST_F(PettingZoo, AMaskedObservationIsTwoChannels) {
  harness::Env env(kPlugin, 1, 1, Leavers({{"masked", true}, {"stateless", true}}));
  EXPECT_THAT(Names(env), ElementsAre("obs", "action", "action_mask", "alive", "reward", "agent_ended", "agent_truncated",
                                      "terminated", "truncated"));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK) << env.error();
  for (int t = 0; t < 2; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_THAT(Of<uint8_t>(env, "action_mask", 0), ElementsAre(1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0)) << "agent a has left";
}

TEST_F(PettingZoo, RejectsAnEnvThatCannotBeCreatedWithItsReason) {
  EXPECT_THAT(Refusal({{"id", "no.such"}, {"python", kPython}}), HasSubstr("id: No module named 'no'; expected a module"));
  EXPECT_THAT(Refusal({{"id", "json"}, {"python", kPython}}), HasSubstr("'json', which has no `parallel_env`"));
}

}  // namespace
