// Observations of Python envs at the host's side: their types, bounds and reports. python_env_worker_test.py tests the
// processes' side.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// `space` and `value`: Python expressions. From step `after` on an observation is `value`, before that `first`.
constexpr const char* kEnvs = R"py(
import gymnasium, numpy as np
from gymnasium.spaces import *
from pettingzoo import ParallelEnv

class Shown(gymnasium.Env):
    action_space = Discrete(2)

    def __init__(self, space, first, value="None", after=2):
        self.observation_space, self.first, self.after = eval(space), eval(first), after
        self.value = self.first if value == "None" else eval(value)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self.first, {}

    def step(self, action):
        self.steps += 1
        return self.value if self.steps >= self.after else self.first, 1.0, False, False, {}

class Pair(ParallelEnv):
    metadata = {"name": "pair_v0"}
    possible_agents = ["left", "right"]

    def observation_space(self, agent):
        return Box(1, 2, (2,), np.float32)

    def action_space(self, agent):
        return Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents, self.steps = list(self.possible_agents), 0
        return {a: np.ones(2, np.float32) for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions):
        self.steps += 1
        seen = {a: np.float32([1, 3 if a == "right" and self.steps == 3 else 1]) for a in actions}
        ends = {a: a == "left" for a in actions}
        self.agents = ["right"]
        flags = {a: False for a in actions}
        return seen, {a: 1.0 for a in ["left", "right"]}, ends, flags, {a: {} for a in actions}
)py";

class PythonObservations : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system(("'" + kPython + "' -c 'import pettingzoo' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "no pettingzoo in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("python_observations_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "envs.py") << kEnvs;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  json Options(const std::string& name, const json& kwargs, const json& more = json::object()) const {
    json options = {{"file", (folder_ / "envs.py").string()}, {"class", name}, {"kwargs", kwargs}, {"python", kPython}};
    options.update(more);
    return options;
  }
  std::unique_ptr<harness::Env> Shown(const json& kwargs, const json& more = json::object(), uint64_t rows = 1) const {
    auto env =
        std::make_unique<harness::Env>(BACKPLANE_PLUGIN_DIR "/env_gymnasium.so", rows, 1, Options("Shown", kwargs, more));
    EXPECT_EQ(env->Reset(0, std::vector<uint64_t>(rows, 1)), BP_OK) << env->error();
    return env;
  }

  fs::path folder_;
};

TEST_F(PythonObservations, ScalarBoxIsOneNumber) {
  const auto env =
      Shown({{"space", "Box(0, 100, (), np.float32)"}, {"first", "np.float32(3)"}, {"value", "4.5"}, {"after", 1}});
  EXPECT_EQ(env->spec().channels[0].ndim, 0);
  EXPECT_EQ(env->Obs()[0], 3);
  ASSERT_EQ(env->Step(), BP_OK) << env->error();
  EXPECT_EQ(env->Obs()[0], 4.5f);
}

TEST_F(PythonObservations, AChoiceOutsideItsSpaceNamesTheRow) {
  const auto env = Shown({{"space", "Discrete(3)"}, {"first", "0"}, {"value", "-1"}}, json::object(), 2);
  ASSERT_EQ(env->Step(), BP_OK) << env->error();
  EXPECT_EQ(env->Step(), BP_E_INTERNAL);
  EXPECT_THAT(env->error(),
              HasSubstr("row 0: ValueError: observation: expected a number from 0 to 2, as in observation_space, got -1"));
}

TEST_F(PythonObservations, ImagesStayBytes) {
  const auto env = Shown({{"space", "Box(0, 255, (2, 2), np.uint8)"}, {"first", "np.uint8([[1, 2], [3, 255]])"}});
  const bp_channel& obs = env->spec().channels[0];
  EXPECT_EQ(obs.dtype.code, BP_DTYPE_UINT);
  EXPECT_EQ(obs.dtype.bits, 8);
  EXPECT_THAT(std::vector<int>(env->At<uint8_t>("obs"), env->At<uint8_t>("obs") + 4), ElementsAre(1, 2, 3, 255));
  EXPECT_THAT(env->warnings(), IsEmpty());
}

TEST_F(PythonObservations, PartsAreOneChannelOrSeveral) {
  const json kwargs = {{"space", "Dict(a=Discrete(2), b=Box(0, 255, (2,), np.uint8), c=Box(-1, 1, (), np.float32))"},
                       {"first", "dict(a=1, b=np.uint8([7, 8]), c=0.5)"}};
  const auto flat = Shown(kwargs);
  EXPECT_THAT(std::vector<float>(flat->Obs(), flat->Obs() + 5), ElementsAre(0, 1, 7, 8, 0.5f));
  EXPECT_THAT(flat->notes(), Contains(HasSubstr("obs: 0..1 observation['a'], 2..3 observation['b'], 4 observation['c']")));
  const auto named = Shown(kwargs, {{"observations", "named"}});
  EXPECT_THAT(std::vector<float>(named->At<float>("obs/a"), named->At<float>("obs/a") + 2), ElementsAre(0, 1));
  EXPECT_EQ(named->At<uint8_t>("obs/b")[1], 8);
  EXPECT_EQ(*named->At<float>("obs/c"), 0.5f);
}

TEST_F(PythonObservations, CountsObservationsOutsideTheirBoxAndReportsTheFirst) {
  const json kwargs = {{"space", "Dict(speed=Box(-1, 1, (2, 2), np.float32), way=Box(-np.inf, np.inf, (1,), np.float32))"},
                       {"first", "dict(speed=np.ones((2, 2), np.float32), way=np.float32([1e30]))"},
                       {"value", "dict(speed=np.float32([[0, 0], [-1.5, 7]]), way=np.float32([0]))"},
                       {"after", 1}};
  const auto env = Shown(kwargs, json::object(), 3);
  for (int t = 0; t < 4; ++t) ASSERT_EQ(env->Step(), BP_OK) << env->error();
  ASSERT_THAT(env->warnings(), SizeIs(1));
  EXPECT_THAT(env->warnings()[0],
              HasSubstr("row 0: expected observation['speed'][1, 0] from -1 to 1, as in observation_space, got -1.5"));
  EXPECT_THAT(env->notes(), Contains(HasSubstr("10 observations have been outside their bounds so far")));
  const auto strict = Shown(kwargs, {{"out_of_bounds", "error"}}, 3);
  EXPECT_EQ(strict->Step(), BP_E_INTERNAL);
  EXPECT_THAT(strict->error(), HasSubstr("observation['speed'][1, 0] from -1 to 1"));
}

TEST_F(PythonObservations, BoundsAreInclusiveAndRoundedLikeObservations) {
  for (const char* value : {"np.float64([0.1, -0.1])", "np.float32([0.1, -0.1])", "np.array([np.nan, 0])"}) {
    const auto env = Shown({{"space", "Box(-0.1, 0.1, (2,), np.float64)"}, {"first", value}}, {{"out_of_bounds", "error"}});
    EXPECT_EQ(env->error(), "") << value;
  }
  const auto below = Shown({{"space", "Box(np.float32([0, -np.inf]), np.float32([np.inf, 3]))"},
                            {"first", "np.float32([0, -1e30])"},
                            {"value", "np.float32([-1e-30, 0])"},
                            {"after", 1}},
                           {{"out_of_bounds", "error"}});
  EXPECT_EQ(below->Step(), BP_E_INTERNAL);
  EXPECT_THAT(below->error(), HasSubstr("observation[0] from 0 to inf, as in observation_space, got -1e-30"));
}

TEST_F(PythonObservations, ReportsACastOfFloat64Once) {
  const auto env = Shown({{"space", "Box(-1, 1, (2,), np.float32)"}, {"first", "np.zeros(2)"}}, json::object(), 4);
  ASSERT_EQ(env->Step(), BP_OK) << env->error();
  EXPECT_THAT(env->warnings(), ElementsAre(HasSubstr("observation is float64 and is cast to float32")));
}

TEST_F(PythonObservations, ChecksOnlyAgentsThatAreAlive) {
  harness::Env env(BACKPLANE_PLUGIN_DIR "/env_pettingzoo.so", 1, 1, Options("Pair", json::object()));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK) << env.error();
  for (int t = 0; t < 2; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
  // Zeros of an agent that has left are outside the space, but no observation.
  EXPECT_THAT(env.warnings(), ElementsAre(HasSubstr("row 0: agent 'left' got a reward of 1.0 after it had left")));
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_THAT(env.warnings(), Contains(HasSubstr("row 0, agent 'right': expected observation[1] from 1 to 2")));
}

}  // namespace
