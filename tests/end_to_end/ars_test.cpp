// Augmented random search as a user runs it: aliases of options, the same bits for any split of the work, and CartPole in
// seconds.
#include <gmock/gmock.h>
#include <signal.h>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class Ars : public ProgramTest {
 protected:
  // Weights after `run FILE` with each of the settings.
  std::vector<std::string> WeightsWith(const std::string& text, const std::vector<std::string>& settings) {
    Write("same.yaml", text);
    std::vector<std::string> weights;
    for (const std::string& setting : settings) {
      const std::string name = "run" + std::to_string(weights.size());
      const Finished run = Run("run same.yaml --set " + setting + " --set output.dir=outputs/" + name);
      EXPECT_EQ(run.exit, 0) << setting << ": " << run.err;
      weights.push_back(LearnerState(Attempt(name).parent_path()));
    }
    EXPECT_GT(weights[0].size(), 100u);
    return weights;
  }
  void CheckThatTheCutChangesNoBit(const std::string& text) {
    std::vector<std::string> settings;
    for (const int threads : kThreads) settings.push_back("rollout.threads=" + std::to_string(threads));
    for (const char* cut : {"learner.options.dir_chunk=1", "learner.options.dir_chunk=7", "rollout.num_envs_per_env_runner=1",
                            "rollout.num_envs_per_env_runner=16", "rollout.chunk_rows=1"})
      if (!kLooksForRaces) settings.emplace_back(cut);
    settings.emplace_back("seed=1");
    const std::vector<std::string> weights = WeightsWith(text, settings);
    for (size_t i = 1; i + 1 < weights.size(); ++i) EXPECT_TRUE(weights[i] == weights[0]) << settings[i];
    EXPECT_FALSE(weights.back() == weights[0]);
  }
};

TEST_F(Ars, NamesOfTheFieldSetOptions) {
  Write("names.yaml", R"(experiment: names
env: {plugin: cartpole}
learner: {plugin: ars, options: {n_delta: 5, n_top: 2, delta_std: 0.1, learning_rate: 0.05, n_eval_episodes: 2, rollout_length: 6}}
budget: {iterations: 2}
)");
  const Finished run = Run("run names.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("names")["env_steps"], 2 * 5 * 2 * 2 * 6) << "no pole falls within 6 steps";
  const nlohmann::json in_use = {{"dir_chunk", "5"}, {"episode_length", "6"}};
  EXPECT_EQ(Result("names")["facts"]["learner.ars"], in_use) << "for findings";
}

// Envs that start at the same time: a direction's return is their mean, and the step counts all of them.
TEST_F(Ars, EachDirectionAndSignPlaysOneEpisodePerEnv) {
  Write("envs.yaml", R"(experiment: envs
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_envs: 128, num_dirs: 16, episode_length: 2}}
rollout: {num_envs_per_env_runner: 32}
budget: {iterations: 1}
)");
  const Finished run = Run("run envs.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("envs")["env_steps"], 2 * 4096) << "4,096 episodes of 2 steps";
}

TEST_F(Ars, LocatesTheErrorOfMoreTopDirectionsThanDirections) {
  Write("top.yaml", R"(experiment: top
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 4, top_dirs: 5}}
budget: {iterations: 2}
)");
  const Finished run = Run("run top.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("top_dirs: expected at most num_dirs (4), got 5"));
  EXPECT_THAT(run.err, testing::HasSubstr("top.yaml:3:47"));
}

// 4, 12 and 64 rows are fewer than the candidates, about as many, and more. CartPole's episodes end at different times.
TEST_F(Ars, OnCartPoleTheCutOfTheWorkChangesNoBit) {
  CheckThatTheCutChangesNoBit(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 9, top_dirs: 4, episodes_per_dir: 2, hidden: [24]}}
rollout: {num_env_runners: 4, num_envs_per_env_runner: 3}
budget: {iterations: 8}
)");
}

TEST_F(Ars, OnHalfCheetahTheCutOfTheWorkChangesNoBit) {
  if (!HasPlugin("env_half_cheetah.so")) GTEST_SKIP() << "built without MuJoCo";
  CheckThatTheCutChangesNoBit(R"(experiment: same
env: {plugin: half_cheetah}
learner: {plugin: ars, options: {num_dirs: 9, top_dirs: 4, episode_length: 40}}
rollout: {num_env_runners: 4, num_envs_per_env_runner: 3}
budget: {iterations: 4}
)");
}

TEST_F(Ars, KilledAndResumedEqualsAnUndisturbedRun) {
  const std::string text = R"(
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 6, top_dirs: 3, hidden: [16], optimizer: adam, shaping: centred_ranks}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 4}
checkpoint: {every_iterations: 20}
budget: {iterations: )" + std::to_string(kSanitized ? 200 : 800) +
                           "}\n";
  Write("whole.yaml", "experiment: whole" + text);
  Write("parts.yaml", "experiment: parts" + text);
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  const pid_t pid = Start("run parts.yaml");
  ASSERT_TRUE(Until([&] { return Metrics("parts").size() >= 60; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  const Finished again = Run("run parts.yaml");
  ASSERT_EQ(again.exit, 0) << again.err;
  ASSERT_TRUE(std::filesystem::exists(Attempt("parts", 2) / "result.json")) << "the kill came after its end";
  EXPECT_TRUE(LearnerState(Attempt("parts").parent_path()) == LearnerState(Attempt("whole").parent_path()));
}

TEST_F(Ars, BalancesCartPole) {
  Write("cart.yaml", R"(experiment: cart
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 2, noise_std: 0.05}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 2}
budget: {env_steps: 50000}
evaluation: {episodes: 50}
)");
  const Finished run = Run("run cart.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Result("cart")["evaluation"]["return"]["mean"], 500);
  EXPECT_EQ(Result("cart")["return_range"], (nlohmann::json{{"low", 1}, {"high", 500}})) << "1 per step, 500 steps";
}

}  // namespace
}  // namespace backplane::end_to_end
