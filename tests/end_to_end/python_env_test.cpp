// Trials of Python envs as a user runs them, with the interpreter of .venv-oracle, which scripts/test makes.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

class PythonEnv : public ProgramTest {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
  }
};

TEST_F(PythonEnv, AKilledTrialResumesWithTheSameBits) {
  const std::string text = R"(
env: {plugin: gymnasium, options: {id: CartPole-v1, python: )" +
                           kPython + R"(}}
learner: {plugin: random, options: {horizon: 10}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 600}
checkpoint: {every_iterations: 10}
)";
  Write("whole.yaml", "experiment: whole" + text);
  Write("parts.yaml", "experiment: parts" + text);
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  const pid_t first = Start("run parts.yaml");
  ASSERT_TRUE(Until([&] { return Metrics("parts").size() >= 15; })) << ErrorsOf(first);
  kill(first, SIGKILL);
  Wait(first);
  ASSERT_LT(Metrics("parts").size(), 600u) << "the trial ended before the kill";
  const Finished second = Run("run parts.yaml");
  ASSERT_EQ(second.exit, 0) << second.err;
  const std::vector<nlohmann::json> whole = Metrics("whole"), rest = Metrics("parts", 2);
  ASSERT_FALSE(rest.empty());
  const size_t from = whole.size() - rest.size();
  ASSERT_GE(from, 10u) << "it restarted from scratch";
  // An episode outlasts an iteration's 10 steps, so returns depend on the saved rows.
  for (size_t i = 0; i < rest.size(); ++i) ASSERT_EQ(whole[from + i], rest[i]);
}

TEST_F(PythonEnv, HundredMegabytesOfPrintLeaveAReadableLog) {
  Write("talks.py", R"(
import sys
import gymnasium

class Talks(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return self.observation_space.low, {}

    def step(self, action):
        sys.stdout.write(("x" * 99 + "\n") * 10000)
        return self.observation_space.low, 1.0, False, False, {}
)");
  Write("talks.yaml", R"(
env: {plugin: gymnasium, options: {file: talks.py, class: Talks, python: )" +
                          kPython + R"(}}
learner: {plugin: random, options: {horizon: 50}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 1}
)");
  const Finished run = Run("run talks.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("talks")["state"], "COMPLETED");
  uintmax_t logged = 0;
  for (const char* name : {"stdout.log", "stderr.log"}) {
    const std::filesystem::path log = Attempt("talks") / name;
    if (std::filesystem::exists(log)) logged += std::filesystem::file_size(log);
  }
  EXPECT_GT(logged, 10'000u);
  EXPECT_LT(logged, 1'000'000u);
  EXPECT_THAT(ReadFile(Attempt("talks") / "stderr.log"), ::testing::HasSubstr("the workers have printed 10 MB more"));
  EXPECT_LT(run.out.size() + run.err.size(), 100'000u) << "it reached the terminal";
}

// The same numbers as bytes and as float32.
TEST_F(PythonEnv, TrainsOnBytesAsOnFloats) {
  Write("image.py", R"(
import gymnasium, numpy

class Bytes(gymnasium.Env):
    type = numpy.uint8
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(0, 255, (3, 4), self.type)

    def seen(self):
        return self.np_random.integers(0, 256, (3, 4)).astype(self.type)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.last = 0, self.seen()
        return self.last, {}

    def step(self, action):
        reward = float((self.last[0, 0] > 127) == action)
        self.steps, self.last = self.steps + 1, self.seen()
        return self.last, reward, self.steps == 7, False, {}

class Floats(Bytes):
    type = numpy.float32
)");
  for (const std::string learner : {"{plugin: ppo, options: {train_batch_size: 40, hidden: [8], normalize_obs: true}}",
                                    "{plugin: ars, options: {num_dirs: 4, top_dirs: 2}}"}) {
    for (const std::string name : {"Bytes", "Floats"}) {
      Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: gymnasium, options: {file: image.py, class: " + name +
                                ", python: " + kPython + "}}\nlearner: " + learner +
                                "\nrollout: {num_env_runners: 1, num_envs_per_env_runner: 4}\nbudget: {iterations: 3}\n");
      const Finished run = Run("run " + name + ".yaml --fresh");
      ASSERT_EQ(run.exit, 0) << run.err;
    }
    EXPECT_EQ(Metrics("Bytes"), Metrics("Floats")) << learner;
    EXPECT_EQ(Metrics("Bytes").size(), 3u);
  }
}

// An env that pays 1 per step and never ends an episode. Its call `where` fails in the way `how`.
constexpr char kOdd[] = R"(
import os, struct, time
import gymnasium, numpy

class Odd(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}

    def __init__(self, where="", how="", after=0, sleep=0, render_mode=None):
        self.where, self.how, self.after, self.sleep, self.render_mode = where, how, after, sleep, render_mode
        self.do("create")

    def do(self, where):
        if where != self.where:
            return
        self.after -= 1
        if self.after >= 0:
            return
        if self.how == "memory":
            numpy.empty(1 << 50)
        if self.how == "raise":
            raise MemoryError
        if self.how == "no_fork":
            raise OSError(12, "Cannot allocate memory")
        if self.how == "length":
            os.write(4, struct.pack("<I", 0xFFFFFFF0))
        if self.how == "garbage":
            os.write(4, struct.pack("<I", 5) + b"Vhuh?")
            time.sleep(5)

    def render(self):
        return numpy.zeros((4, 6, 3), numpy.uint8)

    def reset(self, *, seed=None, options=None):
        self.do("reset")
        return self.observation_space.low, {}

    def step(self, action):
        self.do("step")
        time.sleep(self.sleep)
        return self.observation_space.low, 1.0, False, False, {}
)";

class OddPythonEnv : public PythonEnv {
 protected:
  OddPythonEnv() { Write("odd.py", kOdd); }

  Finished RunOdd(const std::string& kwargs, const std::string& more, const std::string& command = "run odd.yaml --fresh") {
    Write("odd.yaml", R"(
env: {plugin: gymnasium, options: {file: odd.py, class: Odd, kwargs: {)" +
                          kwargs + "}, python: " + kPython + R"(}}
learner: {plugin: random, options: {horizon: 10}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
)" + more);
    return Run(command);
  }
  std::string Warnings() { return Result("odd").value("warnings", nlohmann::json()).dump(); }
};

TEST_F(OddPythonEnv, ReportsMemoryErrorsAsOom) {
  for (const char* kwargs : {"where: create, how: memory", "where: reset, how: memory", "where: step, how: memory",
                             "where: step, how: raise", "where: step, how: no_fork"}) {
    SCOPED_TRACE(kwargs);
    const Finished run = RunOdd(kwargs, "budget: {iterations: 1}\n");
    EXPECT_EQ(Result("odd")["outcome"], "oom") << run.err;
    EXPECT_EQ(Result("odd")["plugin"], "env.gymnasium");
    EXPECT_THAT(Result("odd")["error"].get<std::string>(), testing::ContainsRegex("Memory|memory"));
  }
}

TEST_F(OddPythonEnv, ReportsWrongRepliesAsItsOwnFault) {
  const Finished run = RunOdd("where: step, how: length, after: 20", "budget: {iterations: 3}\n");
  EXPECT_EQ(Result("odd")["outcome"], "plugin") << run.err;
  EXPECT_EQ(Result("odd")["plugin"], "env.gymnasium");
  EXPECT_THAT(Result("odd")["error"].get<std::string>(),
              testing::HasSubstr("announced a reply of 4294967280 bytes; expected at most 65536"));
  RunOdd("where: step, how: garbage, after: 20", "budget: {iterations: 3}\n");
  EXPECT_EQ(Result("odd")["outcome"], "plugin");
  EXPECT_THAT(Result("odd")["error"].get<std::string>(), testing::HasSubstr("sent a malformed reply: huh?"));
  const Finished at_start = RunOdd("where: reset, how: garbage", "budget: {iterations: 1}\n");
  EXPECT_THAT(at_start.err, testing::HasSubstr("expected the description of an env from worker 0, got: huh?"));
}

TEST_F(OddPythonEnv, TruncatesEndlessEvaluationEpisodesAtTheCap) {
  const std::string more = "budget: {iterations: 2}\nevaluation: {episodes: 3, every_iterations: 1, max_episode_steps: 300}\n";
  const Finished run = RunOdd("", more);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("odd")["state"], "COMPLETED");
  EXPECT_EQ(Result("odd")["evaluation_returns"], nlohmann::json({300, 300, 300}));
  EXPECT_THAT(Warnings(), testing::HasSubstr("3 of 3 evaluation episodes were truncated after 300 steps "
                                             "(evaluation.max_episode_steps)"));
  const std::string warning =
      "warning: env.gymnasium declares no time limit, so episodes of its evaluations are truncated after 300 steps "
      "(evaluation.max_episode_steps)";
  EXPECT_THAT(run.err, testing::HasSubstr(warning)) << "before the start";
  EXPECT_THAT(RunOdd("", more, "config check odd.yaml").err, testing::HasSubstr(warning));
  EXPECT_THAT(RunOdd("", "budget: {iterations: 1}\n", "config check odd.yaml").err, testing::Not(testing::HasSubstr("warning")))
      << "no episode reaches its end";
}

TEST_F(OddPythonEnv, FilmsEndlessEpisodeUpToTheCap) {
  ASSERT_EQ(RunOdd("", "budget: {iterations: 1}\nevaluation: {episodes: 1, max_episode_steps: 40}\n").exit, 0);
  const Finished film = Run("render outputs/odd --to film.svg");
  EXPECT_EQ(film.exit, 0) << film.err;
  EXPECT_THAT(ReadFile(dir_ / "film.svg"), testing::HasSubstr("truncated at 40 steps"));
}

TEST_F(OddPythonEnv, TrustsATimeLimitOfItsWrapper) {
  Write("odd.yaml", R"(
env: {plugin: gymnasium, options: {file: odd.py, class: Odd, wrappers: [{TimeLimit: {max_episode_steps: 7}}], python: )" +
                        kPython + R"(}}
learner: {plugin: random, options: {horizon: 10}}
budget: {iterations: 1}
evaluation: {episodes: 2, max_episode_steps: 5}
)");
  const Finished run = Run("run odd.yaml");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("odd")["evaluation_returns"], nlohmann::json({7, 7})) << "the cap is for envs without a limit";
  EXPECT_THAT(run.err, testing::Not(testing::HasSubstr("declares no time limit")));
  EXPECT_THAT(Warnings(), testing::Not(testing::HasSubstr("max_episode_steps")));
}

TEST_F(OddPythonEnv, EndsEndlessEvaluationByTheBudgetsWallTime) {
  const Finished run = RunOdd("sleep: 0.001", "budget: {iterations: 2, wall_time: 2s}\nevaluation: {episodes: 1}\n");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("odd")["state"], "COMPLETED");
  EXPECT_THAT(Warnings(), testing::HasSubstr("1 of 1 evaluation episodes were truncated because budget.wall_time was over"));
  const double played = Result("odd")["evaluation_returns"].at(0);
  EXPECT_GT(played, 0);
  EXPECT_LT(played, 12'000) << "10 s of steps that take 1 ms";
  EXPECT_TRUE(Result("odd")["floor_zero"].is_null()) << "no time was left for it";
}

TEST_F(OddPythonEnv, EndsEndlessEvaluationByItsWallTimeAndByAStop) {
  const std::string endless = "budget: {iterations: 2}\nevaluation: {episodes: 1, max_episode_steps: 1000000000}\n";
  RunOdd("sleep: 0.001", endless + "resources: {wall_time: 8s}\n");
  EXPECT_EQ(Result("odd")["outcome"], "timeout");
  RunOdd("sleep: 0.001", endless, "config check odd.yaml");
  const pid_t pid = Start("run odd.yaml --fresh");
  ASSERT_TRUE(Until([&] { return ReadFile(Attempt("odd") / "status").find(std::string("eval") + '\0') != std::string::npos; }))
      << ErrorsOf(pid);
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_EQ(Result("odd")["state"], "KILLED");
  EXPECT_TRUE(std::filesystem::exists(Attempt("odd").parent_path() / "checkpoint/checkpoint.bin"));
}

// The env checks each action, so a wrong conversion ends the trial.
TEST_F(PythonEnv, PpoTrainsOnEveryActionSpaceAndOnImages) {
  Write("every.py", R"(
import gymnasium
from gymnasium import spaces

ACTIONS = {
    "multi_discrete": spaces.MultiDiscrete([3, 2], start=[5, -1]),
    "multi_binary": spaces.MultiBinary(3),
    "mixed": spaces.Dict({"bits": spaces.MultiBinary(2), "choice": spaces.Discrete(3, start=4), "numbers": spaces.Box(-1, 1, (2,))}),
}

class Every(gymnasium.Env):
    observation_space = spaces.Dict({"image": spaces.Box(0, 255, (40, 36, 3), "uint8"), "numbers": spaces.Box(-1, 1, (2,))})

    def __init__(self, actions):
        self.action_space = ACTIONS[actions]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.t += 1
        return self.observation_space.sample(), 1.0, False, self.t == 7, {}
)");
  for (const std::string actions : {"multi_discrete", "multi_binary", "mixed"}) {
    Write(actions + ".yaml", R"(
env: {plugin: gymnasium, options: {file: every.py, class: Every, observations: named, kwargs: {actions: )" +
                                 actions + "}, python: " + kPython + R"(}}
learner: {plugin: ppo, options: {train_batch_size: 32, minibatch_size: 16, num_epochs: 1, hidden: [4], normalize_obs: true}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 2}
evaluation: {episodes: 2}
)");
    const Finished run = Run("run " + actions + ".yaml");
    ASSERT_EQ(run.exit, 0) << run.err;
    const nlohmann::json result = Result(actions);
    EXPECT_EQ(result["state"], "COMPLETED");
    EXPECT_EQ(result["evaluation"]["return"]["mean"], 7);
    const Finished exported = Run("export policy outputs/" + actions + " --to policy");
    EXPECT_EQ(exported.exit, 0) << exported.err;
    EXPECT_THAT(exported.out, testing::HasSubstr("choices are the trial's"));
  }
}

}  // namespace
}  // namespace backplane::end_to_end
