// Envs in Python that no trial can use, or that fail: statistics that survive a reset, and errors as sentences.
#include "python_errors.hpp"

namespace python_errors {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kStatistics[] = R"py(
import gymnasium as gym, numpy as np
from gymnasium import spaces

class Base(gym.Env):
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.seen(), {}
    def step(self, action):
        self.steps += 1
        return self.seen(), float(self.steps), False, self.steps > 5, {}
    def seen(self):
        return self.np_random.normal(3, 2, 2).astype(np.float32)

class Welford(Base):
    def __init__(self):
        self.running_mean, self.n = np.zeros(2), 1
    def seen(self):
        x = super().seen()
        self.n += 1
        self.running_mean = self.running_mean + (x - self.running_mean) / self.n
        return (x - self.running_mean).astype(np.float32)

class RunningMeanStd:
    def __init__(self):
        self.mean, self.count = np.zeros(2), 1e-4
    def update(self, x):
        self.count += 1
        self.mean = self.mean + (x - self.mean) / self.count

class Holder(Base):
    def __init__(self, frozen=False):
        self.filter, self.frozen = RunningMeanStd(), frozen
    def seen(self):
        x = super().seen()
        if not self.frozen:
            self.filter.update(x)
        return (x - self.filter.mean).astype(np.float32)

class Inside(Base):  # is no wrapper, but contains one
    def __init__(self):
        self.env = gym.wrappers.NormalizeObservation(Base())
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed)
    def step(self, action):
        return self.env.step(action)

class Unnamed(Base):
    def __init__(self):
        self.a, self.b = np.zeros(2), 0
    def seen(self):
        x = super().seen()
        self.b += 1
        self.a = self.a + (x - self.a) / self.b
        return (x - self.a).astype(np.float32)

class Frozen(gym.wrappers.NormalizeObservation):
    def __init__(self, env):
        super().__init__(env)
        self.update_running_mean = False

class FrozenReward(gym.wrappers.NormalizeReward):
    def __init__(self, env):
        super().__init__(env)
        self.update_running_mean = False

class OfOneEpisode(Base):
    def reset(self, *, seed=None, options=None):
        self.obs_mean = np.zeros(2)
        return super().reset(seed=seed)
    def step(self, action):
        self.obs_mean = self.obs_mean + 1
        return super().step(action)

class Seedless(Base):
    def seen(self):
        return np.random.default_rng().normal(size=2).astype(np.float32)
)py";

TEST_F(PythonErrors, RejectsStatisticsThatSurviveAReset) {
  const auto with = [&](const std::string& name, const json& wrappers) {
    return Refusal(Class(kStatistics, name, {{"wrappers", wrappers}}));
  };
  EXPECT_THAT(
      with("Base", {"NormalizeObservation"}),
      AllOf(
          StartsWith("wrappers: NormalizeObservation: expected an env without statistics that survive a reset, got 'obs_rms'"),
          HasSubstr("\nhint: remove it, and set learner.options.normalize_obs: true of learner.ppo or learner.ars")));
  EXPECT_THAT(with("Base", {"NormalizeReward"}), AllOf(StartsWith("wrappers: NormalizeReward: "), HasSubstr("got 'return_rms'"),
                                                       HasSubstr("normalize_rewards: true of learner.ppo,")));
  EXPECT_THAT(with("Base", {"NormalizeObservation", "FlattenObservation", {{"TimeLimit", {{"max_episode_steps", 9}}}}}),
              StartsWith("wrappers: NormalizeObservation: "))
      << "below other wrappers";
  EXPECT_THAT(with("Welford", json::array()), AllOf(StartsWith("Welford: "), HasSubstr("got 'running_mean'")));
  EXPECT_THAT(with("Holder", json::array()), AllOf(StartsWith("Holder: "), HasSubstr("got 'filter'")));
  EXPECT_THAT(with("Inside", json::array()), StartsWith("NormalizeObservation: "));
  EXPECT_THAT(with("Unnamed", json::array()), StartsWith("plays a seed differently after other episodes"));
}

TEST_F(PythonErrors, AcceptsStatisticsThatStayOrEndWithTheEpisode) {
  const auto with = [&](const std::string& name, const json& wrappers, const json& kwargs = json::object()) {
    return Refusal(Class(kStatistics, name, {{"wrappers", wrappers}, {"kwargs", kwargs}}));
  };
  EXPECT_EQ(with("Base", {"Frozen", "FrozenReward"}), "accepted");
  EXPECT_EQ(with("Holder", json::array(), {{"frozen", true}}), "accepted");
  EXPECT_EQ(with("OfOneEpisode", {"RecordEpisodeStatistics", {{"FrameStackObservation", {{"stack_size", 3}}}}}), "accepted");
  EXPECT_EQ(with("Seedless", json::array()), "accepted");
}

// Classes that differ from the API in one point each.
constexpr char kOldApis[] = R"py(
import gymnasium as gym, numpy as np
from gymnasium import spaces

class Env(gym.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)
    obs = np.zeros(2, np.float32)
    def reset(self, *, seed=None, options=None):
        self.t = 0
        return self.obs, {}
    def step(self, action):
        self.t += 1
        return self.obs, 1.0, False, False, {}
class NoSeed(Env):
    def reset(self):
        return self.obs
class NoInfo(Env):
    def reset(self, *, seed=None, options=None):
        return self.obs
class Done(Env):
    def step(self, action):
        return self.obs, 1.0, False, {}
class DoneAtTheEnd(Env):
    def step(self, action):
        return (self.obs, 1.0, True, {}) if super().step(action)[0] is self.obs and self.t == 3 else (self.obs, 1.0, False, False, {})
class Wrapper(gym.Wrapper):
    def reset(self):
        return self.env.reset()
)py";

TEST_F(PythonErrors, NamesAnOlderApiWithItsCure) {
  const std::string api = "this is the API of gym before 0.26\nhint: `def reset(self, *, seed=None, options=None)` returns";
  const auto with = [&](const std::string& name, const json& wrappers = json::array()) {
    return Refusal(Class(kOldApis, name, {{"wrappers", wrappers}}));
  };
  EXPECT_THAT(with("NoSeed"), AllOf(StartsWith("reset (walk.py:16): "), HasSubstr("unexpected keyword argument 'seed'"),
                                    HasSubstr(api), Not(HasSubstr("Traceback"))));
  EXPECT_THAT(with("NoSeed", {{{"TimeLimit", {{"max_episode_steps", 9}}}}}),
              AllOf(StartsWith("reset (walk.py:16): "), HasSubstr(api)));
  EXPECT_THAT(with("NoInfo"),
              AllOf(StartsWith("reset (walk.py:19): expected 2 values, observation, info, got ndarray"), HasSubstr(api)));
  EXPECT_THAT(with("Done"),
              AllOf(StartsWith("step (walk.py:22): expected 5 values, observation, reward, terminated, truncated, info, "
                               "got 4 values"),
                    HasSubstr(api)));
  EXPECT_THAT(with("Done", {{{"TimeLimit", {{"max_episode_steps", 9}}}}}),
              AllOf(StartsWith("step (walk.py:22): "), HasSubstr(api)));
  EXPECT_THAT(with("Env", {"Wrapper"}), HasSubstr(api));
  harness::Env env(kGymnasium, 1, 1, Class(kOldApis, "DoneAtTheEnd"));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  for (int t = 0; t < 2; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_EQ(env.Step(), BP_E_CONFIG);
  EXPECT_THAT(env.error(), AllOf(StartsWith("step: ValueError: not enough values to unpack"), HasSubstr(api)));
}

TEST_F(PythonErrors, NamesAnOlderApiOfPettingZoo) {
  const std::string text = R"py(
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv
class Old(ParallelEnv):
    metadata = {"name": "old"}
    possible_agents = agents = ["a", "b"]
    def observation_space(self, agent):
        return spaces.Box(-1, 1, (1,), np.float32)
    def action_space(self, agent):
        return spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        return {a: np.zeros(1, np.float32) for a in self.agents}
    def step(self, actions):
        return {}, {}, {}, {}
class OldStep(Old):
    def reset(self, seed=None, options=None):
        return super().reset(), {a: {} for a in self.agents}
)py";
  EXPECT_THAT(Refusal(Class(text, "Old"), kPettingZoo),
              AllOf(StartsWith("reset (walk.py:12): expected 2 values, observations, infos, got dict"),
                    HasSubstr("this is an older API of PettingZoo\nhint: "), HasSubstr("dicts by agent")));
  EXPECT_THAT(Refusal(Class(text, "OldStep"), kPettingZoo),
              StartsWith("step (walk.py:14): expected 5 values, observations, rewards, "
                         "terminations, truncations, infos, got 4 values"));
}

TEST_F(PythonErrors, NamesAMissingPackageWithItsInstallLine) {
  const std::string pip = "\nhint: `" + kPython + " -m pip install ",
                    option = "set env.options.python to an interpreter that has it";
  EXPECT_THAT(Refusal(Class("import gymnasium\nimport no_such_package.part\n", "A")),
              AllOf(StartsWith("ModuleNotFoundError: No module named 'no_such_package' (walk.py:2)" + pip + "no_such_package`"),
                    HasSubstr(option), Not(HasSubstr("Traceback"))));
  EXPECT_THAT(Refusal(Class("import gymnasium\nimport cv2\n", "A")), HasSubstr(pip + "opencv-python-headless`"));
  EXPECT_THAT(Refusal(Class("import gym\n", "A")), HasSubstr("\nhint: write `import gymnasium as gym`"));
  EXPECT_THAT(Refusal({{"id", "no_such_package:Env-v0"}, {"python", kPython}}), HasSubstr(pip + "no_such_package`"));
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"wrappers", {"no_such_package:W"}}, {"python", kPython}}), HasSubstr(pip));
  std::ofstream(folder_ / "bare") << "#!/bin/sh\nexec /usr/bin/env python3 -S -E \"$@\"\n";
  fs::permissions(folder_ / "bare", fs::perms::owner_all);
  EXPECT_THAT(Refusal({{"id", "CartPole-v1"}, {"python", (folder_ / "bare").string()}}),
              AllOf(StartsWith("python: "), HasSubstr("No module named 'gymnasium'"), HasSubstr("pip install gymnasium`")));
}

TEST_F(PythonErrors, BeginWithTheSentenceAndTheUsersLine) {
  const auto third_step = [&](const std::string& how) {
    harness::Env env(kGymnasium, 1, 1, Class(kRaising, "Walk", {{"kwargs", {{"how", how}}}}));
    EXPECT_EQ(env.Reset(0, {1}), BP_OK);
    for (int t = 0; t < 2; ++t) EXPECT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_EQ(env.Step(), BP_E_INTERNAL);
    return env.error();
  };
  EXPECT_THAT(third_step("raise"),
              AllOf(StartsWith("row 0: ValueError: no step (walk.py:26)\nin this state\nTraceback (most recent"),
                    HasSubstr("in fail\n")));
  EXPECT_THAT(third_step("library"),
              StartsWith("row 0: json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: "
                         "line 1 column 2 (char 1) (walk.py:28)\nTraceback"));
  EXPECT_THAT(third_step("surrogate"), StartsWith("row 0: OSError: ? is no file (walk.py:30)\n"));
  EXPECT_THAT(third_step("unreadable"), HasSubstr("Odd: <its text cannot be read> (walk.py:35)\n"));
  EXPECT_THAT(Refusal(Class("class Base(:\n", "A")),
              AllOf(StartsWith("SyntaxError: "), HasSubstr(" (walk.py:1)\n  File "), HasSubstr("\n    class Base(:\n")));
  EXPECT_THAT(Refusal(Class(std::string(kRaising) + "raise KeyError('x')\n", "Walk")),
              StartsWith("KeyError: 'x' (walk.py:39)\n"));
}

}  // namespace
}  // namespace python_errors
