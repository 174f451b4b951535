// Trials of a vector env as a user runs them, with the interpreter of .venv-oracle, which scripts/test makes.
#include <gmock/gmock.h>

#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// Pays 1 per step and truncates every episode after 5 steps, without its last observation.
constexpr char kSilent[] = R"(
import gymnasium, numpy

class Silent(gymnasium.vector.VectorEnv):
    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP, "final_obs": False}
    single_observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    single_action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return numpy.zeros((self.num_envs, 2), numpy.float32), {}

    def step(self, actions):
        self.steps += 1
        truncated = numpy.full(self.num_envs, self.steps % 5 == 0)
        ones = numpy.ones(self.num_envs)
        return numpy.zeros((self.num_envs, 2), numpy.float32), ones, ones < 0, truncated, {}
)";

class VectorEnv : public ProgramTest {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
    Write("silent.py", kSilent);
  }
  Finished RunSilent(const std::string& learner, const std::string& rollout, const std::string& command) {
    Write("silent.yaml", "env: {plugin: gymnasium, options: {file: silent.py, vector: Silent, python: " + kPython +
                             "}}\nlearner: {plugin: ppo, options: {train_batch_size: 120, " + learner + "}}\nrollout: {" +
                             rollout + "}\nbudget: {iterations: 2}\nevaluation: {episodes: 5}\n");
    return Run(command);
  }
};

constexpr char kFourRows[] = "num_env_runners: 1, num_envs_per_env_runner: 4";

TEST_F(VectorEnv, StopsPpoBeforeTheStartIfLastObservationsAreLost) {
  const Finished run = RunSilent("", kFourRows, "run silent.yaml");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("bootstrap_truncated: expected false, because the env has no last observations of truncated "
                                 "episodes, got true"));
}

TEST_F(VectorEnv, TrainsAndEvaluatesIfPpoMayNotBootstrap) {
  const Finished run = RunSilent("bootstrap_truncated: false", kFourRows, "run silent.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("its rows are not exact for any number of threads, and a resumed trial starts new episodes"));
  EXPECT_EQ(Result("silent")["evaluation"]["return"]["mean"], 5);
}

TEST_F(VectorEnv, DryRunShowsItsLimitsAndRejectsAnotherDivision) {
  const Finished dry = RunSilent("bootstrap_truncated: false", kFourRows, "run silent.yaml --dry-run");
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out + dry.err, HasSubstr("not exact for any number of threads"));
  const Finished runners = RunSilent("", "num_env_runners: 2, num_envs_per_env_runner: 2", "run silent.yaml --dry-run");
  EXPECT_NE(runners.exit, 0);
  EXPECT_THAT(runners.err, HasSubstr("expected rollout.num_env_runners: 1, because all rows are one batch, got 2"));
  const Finished chunks = RunSilent("", std::string(kFourRows) + ", chunk_rows: 2", "run silent.yaml --dry-run");
  EXPECT_NE(chunks.exit, 0);
  EXPECT_THAT(chunks.err, HasSubstr("expected rollout.chunk_rows: auto or 4, because all rows are one batch, got 2"));
}

// Rows of Gymnasium's own vector env have their own seeds, so candidates score as in single envs. With 5 rows, rows take new
// candidates while others play; 16 rows are more than the 12 candidates.
TEST_F(VectorEnv, ArsScoresCandidatesAsInSingleEnvs) {
  const auto scores = [&](const std::string& name, const std::string& env, int rows, const std::string& more) {
    Write(name + ".yaml", "env: {plugin: gymnasium, options: {" + env + ", python: " + kPython +
                              "}}\nlearner: {plugin: ars, options: {num_dirs: 6, noise_std: 0.5" + more +
                              "}}\nrollout: {num_env_runners: 1, num_envs_per_env_runner: " + std::to_string(rows) +
                              "}\nbudget: {iterations: 3}\n");
    const Finished run = Run("run " + name + ".yaml");
    EXPECT_EQ(run.exit, 0) << run.err;
    std::string text;
    for (const nlohmann::json& line : Metrics(name))
      for (const auto& [key, value] : line["metrics"].items())
        if (key.starts_with("train/")) text += key + " " + value.dump() + "\n";
    return text;
  };
  constexpr char kBatch[] = "vector: CartPole-v1, kwargs: {vectorization_mode: sync}";
  const std::string wanted = scores("single", "id: CartPole-v1", 3, "");
  EXPECT_THAT(wanted, HasSubstr("train/return_max"));
  EXPECT_EQ(scores("batch", kBatch, 5, ""), wanted);
  EXPECT_EQ(scores("idle", kBatch, 16, ""), wanted);
  EXPECT_EQ(scores("few", kBatch, 5, ", dir_chunk: 2"), wanted);
}

TEST_F(VectorEnv, ArsPlaysAnEnvThatStartsItsOwnEpisodesButDoesNotCutThem) {
  Write("ars.yaml", "env: {plugin: gymnasium, options: {file: silent.py, vector: Silent, python: " + kPython +
                        "}}\nlearner: {plugin: ars, options: {num_dirs: 3}}\nrollout: {" + kFourRows +
                        "}\nbudget: {iterations: 2}\n");
  const Finished run = Run("run ars.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Metrics("ars").back()["metrics"]["train/return_mean"], 5);
  const Finished cut = Run("run ars.yaml --fresh --set learner.options.episode_length=3");
  EXPECT_NE(cut.exit, 0);
  EXPECT_THAT(cut.out + cut.err, HasSubstr("expected a start of all rows, or of rows that the env has just ended"));
}

}  // namespace
}  // namespace backplane::end_to_end
