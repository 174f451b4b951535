// The same file and seed give the same numbers and weights for any number of threads.
#include <gmock/gmock.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class SameBits : public ProgramTest {
 protected:
  void CheckThreads(const std::string& text) {
    Write("same.yaml", text);
    std::vector<std::string> values, weights, evaluations, fingerprints;
    for (const int threads : kThreads) {
      const std::string name = "t" + std::to_string(values.size() + 1);
      const Finished run =
          Run("run same.yaml --set rollout.threads=" + std::to_string(threads) + " --set output.dir=outputs/" + name);
      ASSERT_EQ(run.exit, 0) << run.err;
      values.push_back(Values(name));
      const nlohmann::json result = Result(name);
      evaluations.push_back(result["evaluation"].dump() + result["floor_zero"].dump() + result["floor_uniform"].dump());
      fingerprints.push_back(ReadFile(Attempt(name) / "fingerprints.bin"));
      weights.push_back(CheckpointWithoutTimes(Attempt(name).parent_path()));
    }
    EXPECT_GT(values[0].size(), 500u);
    EXPECT_GT(fingerprints[0].size(), 500u);
    for (size_t i = 1; i < values.size(); ++i) {
      EXPECT_EQ(values[0], values[i]);
      EXPECT_EQ(evaluations[0], evaluations[i]);
      EXPECT_EQ(weights[0], weights[i]);
      EXPECT_EQ(fingerprints[0], fingerprints[i]);
    }
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

// With a file of the learner (backplane/ext/file.h), part of the checkpoint.
TEST_F(SameBits, HoardsOnCartPole) {
  CheckThreads(R"(experiment: same
env: {plugin: cartpole}
learner: {plugin: hoards}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 30}
plugin_path: [)" BACKPLANE_BINARY_DIR R"(/tests/fixtures/plugins]
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

// Calls of 64 rows, which CartPole requests, instead of the grid's 16: PPO's observation moments depend on the grid.
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

// The same in mixed precision, if the processor supports it: three shards, and a net that is cut into parts.
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
  file.replace(file.find("PATH"), 4, GetParam());
  if (kLooksForRaces)
    file.replace(file.find("num_epochs: 2"), 13, "num_epochs: 1").replace(file.find("iterations: 3"), 13, "iterations: 2");
  CheckThreads(file);
  EXPECT_EQ(Result("t1")["facts"]["learner.mappo"]["update_path"], GetParam());
}

// On a CPU, devices 0 and 1 are simulated.
TEST_F(SameBits, MappoWithADevicePerNet) {
  if (!HasPlugin("learner_mappo_torch.so")) GTEST_SKIP() << "built without LibTorch";
  std::string file = kMappo;
  Write("same.yaml", file.replace(file.find("PATH"), 4, "torch"));
  for (const std::string devices : {"[]", "[1,0]"}) {
    const Finished run =
        Run("run same.yaml --set evaluation.episodes=0 --set budget.iterations=1 --set learner.options.devices=" + devices +
            " --out outputs/" + devices);
    ASSERT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(ReadFile(Attempt(devices) / "fingerprints.bin"), ReadFile(Attempt("[]") / "fingerprints.bin"));
  }
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
