// The same file and seed give the same numbers and the same weights, whatever the number of threads.
#include <gmock/gmock.h>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class SameBits : public ProgramTest {
 protected:
  void CheckThreads(const std::string& text) {
    Write("same.yaml", text);
    std::vector<std::string> values, weights, evaluations, fingerprints;
    for (int threads : {1, 2, 3}) {
      const std::string n = std::to_string(threads);
      const Finished run = Run("run same.yaml --set rollout.threads=" + n + " --set output.dir=outputs/t" + n);
      ASSERT_EQ(run.exit, 0) << run.err;
      values.push_back(Values("t" + n));
      const nlohmann::json result = Result("t" + n);
      evaluations.push_back(result["evaluation"].dump() + result["floor_zero"].dump() + result["floor_uniform"].dump());
      fingerprints.push_back(ReadFile(Attempt("t" + n) / "fingerprints.bin"));
      weights.push_back(CheckpointWithoutTimes(Attempt("t" + n).parent_path()));
    }
    EXPECT_GT(values[0].size(), 500u);
    EXPECT_EQ(values[0], values[1]);
    EXPECT_EQ(values[0], values[2]);
    EXPECT_EQ(evaluations[0], evaluations[1]);
    EXPECT_EQ(evaluations[0], evaluations[2]);
    EXPECT_EQ(weights[0], weights[1]);
    EXPECT_EQ(weights[0], weights[2]);
    EXPECT_GT(fingerprints[0].size(), 500u);
    EXPECT_EQ(fingerprints[0], fingerprints[1]);
    EXPECT_EQ(fingerprints[0], fingerprints[2]);
  }
};

TEST_F(SameBits, RandomOnCartPole) {
  CheckThreads(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 8}
budget: {iterations: 20}
)");
}

TEST_F(SameBits, PpoOnCartPole) {
  CheckThreads(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 384, minibatch_size: 96, num_epochs: 2, normalize_obs: true, normalize_rewards: true}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 8}
)");
}

// Calls of 64 rows, which CartPole asks for, in place of the grid's 16: of PPO the moments of observations depend on the grid.
TEST_F(SameBits, PpoInCallsOfManyRows) {
  Write("same.yaml", R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 1024, minibatch_size: 256, num_epochs: 2, normalize_obs: true}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 64}
budget: {iterations: 4}
)");
  for (const std::string rows : {"auto", "16"}) {
    const Finished run = Run("run same.yaml --set rollout.chunk_rows=" + rows + " --set output.dir=outputs/" + rows);
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  EXPECT_EQ(Result("auto")["chunk_rows"], 64);
  EXPECT_EQ(Result("16")["chunk_rows"], 16);
  EXPECT_EQ(Attempt("auto").parent_path().filename(), Attempt("16").parent_path().filename()) << "one identity";
  EXPECT_EQ(Values("auto"), Values("16"));
  EXPECT_GT(ReadFile(Attempt("auto") / "fingerprints.bin").size(), 100u);
  EXPECT_EQ(ReadFile(Attempt("auto") / "fingerprints.bin"), ReadFile(Attempt("16") / "fingerprints.bin"));
}

// Three shards of an update on one, two and three threads.
TEST_F(SameBits, PpoInShards) {
  CheckThreads(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 1536, minibatch_size: 768, num_epochs: 2, update_shards: 3, share_layers: true, hidden: [128, 128]}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 4}
)");
  EXPECT_EQ(Result("t1")["facts"]["learner.ppo"]["update_path"], "fused");
}

// The same in mixed precision, where the processor has it. Three shards, and a net that is cut into pieces.
TEST_F(SameBits, PpoInMixedPrecision) {
  if (ReadFile("/proc/cpuinfo").find(" avx512_bf16") == std::string::npos) GTEST_SKIP() << "no avx512_bf16";
  CheckThreads(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 1536, minibatch_size: 768, num_epochs: 2, update_shards: 3, hidden: [128, 128], use_amp: true}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 4}
)");
  EXPECT_EQ(Result("t1")["facts"]["learner.ppo"]["update_path"], "fused");
  EXPECT_EQ(Result("t1")["facts"]["learner.ppo"]["use_amp"], "on");
}

constexpr char kMappo[] = R"(experiment: same
env: {plugin: uav_grid, options: {state_map: explored, max_steps: 40}}
learner: {plugin: mappo, options: {train_batch_size: 768, num_epochs: 2, value_norm: true, update_shards: 3, update_path: PATH}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 3}
evaluation: {every_iterations: 2, episodes: 3}
)";

class SameBitsOfMappo : public SameBits, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Path, SameBitsOfMappo, ::testing::Values("fused", "torch"));

TEST_P(SameBitsOfMappo, OnTheGrid) {
  if (GetParam() == std::string("torch") && !HasPlugin("learner_mappo_torch.so")) GTEST_SKIP() << "built without LibTorch";
  std::string file = kMappo;
  CheckThreads(file.replace(file.find("PATH"), 4, GetParam()));
  EXPECT_EQ(Result("t1")["facts"]["learner.mappo"]["update_path"], GetParam());
}

TEST_F(SameBits, PpoOnAnt) {
  if (!HasPlugin("env_ant.so")) GTEST_SKIP() << "built without MuJoCo";
  CheckThreads(R"(experiment: same
env: {plugin: ant}
learner: {plugin: ppo, options: {train_batch_size: 768, minibatch_size: 256, num_epochs: 2, normalize_obs: true, normalize_rewards: true}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 8}
budget: {iterations: 4}
evaluation: {every_iterations: 2, episodes: 3}
)");
}

}  // namespace
}  // namespace backplane::end_to_end
