// Trials of envs in Python as a user runs them. The interpreter is that of .venv-oracle, which scripts/test makes.
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

TEST_F(PythonEnv, ATrialThatIsKilledGoesOnWithTheSameBits) {
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
  ASSERT_LT(Metrics("parts").size(), 600u) << "it was over before the kill";
  const Finished second = Run("run parts.yaml");
  ASSERT_EQ(second.exit, 0) << second.err;
  const std::vector<nlohmann::json> whole = Metrics("whole"), rest = Metrics("parts", 2);
  ASSERT_FALSE(rest.empty());
  const size_t from = whole.size() - rest.size();
  ASSERT_GE(from, 10u) << "it began anew";
  // An episode lasts longer than the 10 steps of an iteration, so that returns tell of the rows that were saved.
  for (size_t i = 0; i < rest.size(); ++i) ASSERT_EQ(whole[from + i], rest[i]);
}

TEST_F(PythonEnv, HundredMegabytesOfPrintLeaveALogToRead) {
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
  EXPECT_LT(run.out.size() + run.err.size(), 100'000u) << "it came to the terminal";
}

}  // namespace
}  // namespace backplane::end_to_end
