// Errors of an env in Python on the terminal, in `status`, in the page and in result.json. Needs .venv-oracle, which
// scripts/test makes.
#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// Fails in the 25th step of a row, which no episode of the probe reaches.
constexpr char kWalk[] = R"(import gymnasium, numpy
class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 99, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    t = 0
    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self.seen(), {}
    def seen(self):
        return numpy.full(1, self.steps, numpy.float32)
    def step(self, action):
        self.t += 1
        self.steps += 1
        if self.t == 25:
            raise ValueError("no such state")
        return self.seen(), 1.0, self.steps == 5, False, {}
class Old(Walk):
    def reset(self):
        return self.seen()
)";

class PythonErrors : public ProgramTest {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
    Write("walk.py", kWalk);
    WriteFile("class: Walk");
  }
  void WriteFile(const std::string& options, const std::string& more = "budget: {iterations: 5}\n") {
    Write("walk.yaml", "env: {plugin: gymnasium, options: {file: walk.py, python: " + kPython + ", " + options + R"(}}
learner: {plugin: random, options: {horizon: 10}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
)" + more);
  }
  static int Count(const std::string& text, const std::string& part) {
    int n = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
    return n;
  }
};

TEST_F(PythonErrors, ShowTheSentenceAndTheTracebackOnce) {
  const Finished run = Run("run walk.yaml");
  EXPECT_EQ(run.exit, 1);
  const std::string why = "env.gymnasium: step: row 0: ValueError: no such state (walk.py:15)";
  EXPECT_THAT(run.err, HasSubstr("why          " + why + "\n               Traceback (most recent call last):\n"));
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("walk.py\", line 15, in step\n"), Not(HasSubstr("\\n")), Not(HasSubstr("/proc/self/fd"))));
  EXPECT_EQ(Count(run.err, "Traceback (most recent"), 1) << run.err;
  EXPECT_EQ(Count(run.err, "raise ValueError"), 1) << run.err;
  EXPECT_THAT(Result("walk")["error"].get<std::string>(), StartsWith(why + "\nTraceback"));
  const Finished status = Run("status outputs/walk");
  EXPECT_THAT(status.out, AllOf(HasSubstr("ValueError: no such state (walk.py:15)\n"), Not(HasSubstr("Traceback"))));
  const std::string page = ReadFile(Out("walk") / "index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("ValueError: no such state (walk.py:15)"), Not(HasSubstr("15)\\\\n"))));
}

TEST_F(PythonErrors, EndAnOlderApiBeforeTheStart) {
  WriteFile("class: Old");
  for (const char* command : {"config check walk.yaml", "run walk.yaml"}) {
    const Finished run = Run(command);
    EXPECT_EQ(run.exit, 2) << command;
    EXPECT_THAT(run.err,
                StartsWith("walk.yaml:1:7: error: env.gymnasium: create: reset (walk.py:18): Old.reset() got an unexpected "
                           "keyword argument 'seed': this is the API of gym before 0.26\n"));
    EXPECT_THAT(run.err, AllOf(HasSubstr("\nhint: `def reset(self, *, seed=None, options=None)` returns"),
                               Not(HasSubstr("\\n")), HasSubstr("1 error in walk.yaml; nothing was started")));
  }
  Write("walk.py", "class Base(:\n");
  EXPECT_THAT(Run("config check walk.yaml").err,
              AllOf(StartsWith("walk.yaml:1:7: error: env.gymnasium: create: SyntaxError: "), HasSubstr(" (walk.py:1)\n"),
                    HasSubstr("\n    File "), HasSubstr("\n      class Base(:\n")));
}

TEST_F(PythonErrors, EndOnlyEpisodesOnRequest) {
  WriteFile("class: Walk, on_error: end_episode");
  const Finished run = Run("run walk.yaml");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("walk")["state"], "COMPLETED");
  EXPECT_THAT(Result("walk")["warnings"].dump(),
              HasSubstr("row 0: on_error: end_episode: ValueError: no such state (walk.py:15): the episode is truncated"));
  // Two rows of 50 steps in episodes of five: in each row, the fifth episode is cut at its last step.
  EXPECT_EQ(Result("walk")["metrics"]["ep/error"]["n"], 20);
  EXPECT_DOUBLE_EQ(Result("walk")["metrics"]["ep/error"]["mean"], 2 / 20.);
  EXPECT_DOUBLE_EQ(Result("walk")["return"]["mean"], (18 * 5 + 2 * 4) / 20.);
}

TEST_F(PythonErrors, LeaveTheIdentityOfOlderFilesUnchanged) {
  const auto id = [&](const std::string& options) {
    WriteFile(options, "budget: {iterations: 1}\n");
    const Finished dry = Run("run walk.yaml --dry-run --json");
    EXPECT_EQ(dry.exit, 0) << dry.err;
    return nlohmann::json::parse(dry.out)["trials"][0]["trial_id"].get<std::string>();
  };
  EXPECT_EQ(id("class: Walk, on_error: raise"), id("class: Walk"));
  EXPECT_NE(id("class: Walk, on_error: end_episode"), id("class: Walk"));
}

// The right action is the one that the observation names. Normalised per row, an evaluation would begin without statistics.
TEST_F(PythonErrors, SendStatisticsToTheLearner) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "no learner.ppo";
  Write("bandit.py", R"(import gymnasium as gym
import numpy as np
from gymnasium import spaces
class Bandit(gym.Env):
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(2))
        return np.array([self.x], np.float32), {}
    def step(self, action):
        return np.array([self.x], np.float32), float(action == self.x), True, False, {}
)");
  const auto file = [&](const std::string& wrappers, const std::string& normalize) {
    Write("bandit.yaml", "env: {plugin: gymnasium, options: {file: bandit.py, class: Bandit, python: " + kPython + wrappers +
                             R"(}}
learner: {plugin: ppo, options: {train_batch_size: 256, minibatch_size: 64, num_epochs: 8, lr: 3.0e-3, hidden: [16], gamma: 0)" +
                             normalize + R"(}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8}
budget: {iterations: 30}
evaluation: {episodes: 200}
)");
  };
  file(", wrappers: [NormalizeObservation]", "");
  const Finished refused = Run("run bandit.yaml");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, AllOf(StartsWith("bandit.yaml:1:"),
                                 HasSubstr("wrappers: NormalizeObservation: expected an env without "
                                           "statistics that survive a reset"),
                                 HasSubstr("\nhint: remove it, and set learner.options.normalize_obs: true")));
  file("", ", normalize_obs: true");
  const Finished run = Run("run bandit.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::vector<double> returns = Result("bandit")["evaluation_returns"];
  EXPECT_GT(std::accumulate(returns.begin(), returns.end(), 0.0), 0.98 * 200);
}

}  // namespace
}  // namespace backplane::end_to_end
