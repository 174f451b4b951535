// MAPPO as a user runs it: aliases of keys, and a small grid learned in seconds.
#include <gmock/gmock.h>

#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class Mappo : public ProgramTest {};

TEST_F(Mappo, NamesOfTheFieldSetTheHostsKeys) {
  Write("names.yaml", R"(experiment: names
env: {plugin: uav_grid, options: {max_steps: 20}}
learner:
  plugin: mappo
  options: {episodes_per_batch: 6, batch_size: 100, update_epochs: 1, num_workers: 3, episodes_per_worker: 2, checkpoint_interval: 1}
budget: {iterations: 2}
)");
  const Finished run = Run("run names.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  // 6 episodes of 20 steps over 3 x 2 rows: 20 steps of each row.
  EXPECT_THAT(run.out + run.err, testing::HasSubstr("2 iterations, 240 env steps"));
}

TEST_F(Mappo, RejectsAnAliasNextToTheHostsKey) {
  Write("twice.yaml", R"(experiment: twice
env: {plugin: uav_grid}
learner: {plugin: mappo, options: {num_workers: 3}}
rollout: {num_env_runners: 3}
budget: {iterations: 2}
)");
  const Finished run = Run("run twice.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("'num_workers' is another name of 'rollout.num_env_runners', which is also set"));
}

// int8 channels of patches and map give both networks the same numbers, also at the ends of episodes.
TEST_F(Mappo, LearnsTheSameFromBytes) {
  for (const std::string path : {"fused", "torch"}) {
    if (path == "torch" && !HasPlugin("learner_mappo_torch.so")) continue;
    std::vector<std::string> values;
    for (const std::string dtype : {"float32", "int8"}) {
      const std::string name = path + "_" + dtype;
      Write(name + ".yaml", "experiment: " + name + R"(
env: {plugin: uav_grid, options: {state_map: explored, others: patches, max_steps: 15, grid_size: 16, n_obstacles: 9, patch_dtype: )" +
                                dtype + R"(}}
learner: {plugin: mappo, options: {train_batch_size: 240, num_epochs: 2, hidden: [32], update_path: )" +
                                path + R"(}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 4}
budget: {iterations: 3}
evaluation: {every_iterations: 2, episodes: 3}
)");
      const Finished run = Run("run " + name + ".yaml");
      ASSERT_EQ(run.exit, 0) << run.err;
      values.push_back(Values(name) + Result(name)["evaluation"].dump());
    }
    EXPECT_GT(values[0].size(), 500u);
    EXPECT_EQ(values[0], values[1]) << path;
  }
}

TEST_F(Mappo, LearnsASmallGrid) {
  Write("small.yaml", R"(experiment: small
env: {plugin: uav_grid, options: {grid_size: 10, n_uavs: 4, n_obstacles: 8, sensor_radius: 2, max_steps: 50, state_map: none}}
learner: {plugin: mappo, options: {hidden: [64, 64], train_batch_size: 1024}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 16}
budget: {env_steps: 25000}
evaluation: {episodes: 100}
)");
  const Finished run = Run("run small.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json result = Result("small");
  const auto success = [&](const char* who) { return result[who]["metrics"]["ep/success_rate"]["mean"].get<double>(); };
  EXPECT_LT(success("floor_uniform"), .5);
  EXPECT_GT(success("evaluation"), .75);
}

// Each agent earns most by repeating the two numbers that it sees; a leaves first.
constexpr char kTargets[] = R"py(
import gymnasium, numpy
from pettingzoo import ParallelEnv

class Targets(ParallelEnv):
    metadata = {"name": "targets"}
    possible_agents = ["a", "b", "c"]
    max_cycles = 10

    def observation_space(self, agent):
        return gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)

    action_space = observation_space

    def seen(self):
        self.targets = {agent: self.draw.uniform(-1, 1, 2).astype(numpy.float32) for agent in self.possible_agents}
        return {agent: self.targets[agent] for agent in self.agents}

    def reset(self, seed=None, options=None):
        self.draw, self.steps, self.agents = numpy.random.default_rng(seed), 0, list(self.possible_agents)
        return self.seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.steps += 1
        were = self.agents
        assert all(numpy.all(abs(actions[agent]) <= 1) for agent in were), actions
        rewards = {agent: -float(abs(actions[agent] - self.targets[agent]).sum()) for agent in were}
        ended = {agent: agent == "a" and self.steps == 4 for agent in were}
        cut = {agent: self.steps == self.max_cycles for agent in were}
        seen = self.seen()
        self.agents = [agent for agent in were if not ended[agent] and not cut[agent]]
        return {agent: seen[agent] for agent in were}, rewards, ended, cut, {agent: {} for agent in were}

    def state(self):
        return numpy.concatenate([self.targets[agent] for agent in self.possible_agents])
)py";

class MappoNumbers : public ProgramTest {
 protected:
  void SetUp() override {
    if (std::system(("'" + python_ + "' -c 'import pettingzoo' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "no pettingzoo in .venv-oracle: run scripts/test";
    Write("targets.py", kTargets);
  }
  void Train(const std::string& name, const std::string& learner, int iterations) {
    Write(name + ".yaml",
          "experiment: " + name + "\nenv: {plugin: pettingzoo, options: {file: targets.py, class: Targets, python: " + python_ +
              "}}\nlearner: {plugin: mappo, options: {train_batch_size: 640, num_epochs: 10, hidden: [32], lr: " +
              "3.0e-3, reward_scale: 1, log_std_init: -0.5" + learner + R"(}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
evaluation: {episodes: 20}
budget: {iterations: )" +
              std::to_string(iterations) + "}\n");
    const Finished run = Run("run " + name + ".yaml");
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  const std::string python_ = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";
};

TEST_F(MappoNumbers, AreLearnedByBothPaths) {
  for (const std::string path : {"fused", "torch"}) {
    if (path == "torch" && !HasPlugin("learner_mappo_torch.so")) continue;
    Train(path, ", update_path: " + path + "}", 20);
    const nlohmann::json result = Result(path);
    const auto mean = [&](const char* who) { return result[who]["return"]["mean"].get<double>(); };
    EXPECT_LT(mean("floor_uniform"), -25) << "4/3 in each of 24 steps of agents";
    EXPECT_GT(mean("evaluation"), -8);
  }
}

TEST_F(Mappo, NumbersOfRolloutWorkersHaveTheSameBits) {
  for (const std::string name : {"alone", "workers"}) {
    Write(name + ".yaml", "experiment: " + name + "\nplugin_path: [" BACKPLANE_BINARY_DIR R"(/tests/plugins]
env: {plugin: null_agents}
learner: {plugin: mappo, options: {train_batch_size: 480, num_epochs: 2, hidden: [16], critic: independent}}
rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}
budget: {iterations: 4}
)");
    const Finished run = Run("run " + name + ".yaml" + (name == "workers" ? " --set rollout.workers=2" : ""));
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  EXPECT_EQ(ReadFile(Attempt("workers") / "fingerprints.bin"), ReadFile(Attempt("alone") / "fingerprints.bin"));
  EXPECT_EQ(Values("workers"), Values("alone"));
}

TEST_F(MappoNumbers, AreExportedAndStartOtherTrials) {
  Train("first", ", num_minibatches: 2}", 6);
  const Finished exported = Run("export policy outputs/first --to policy");
  ASSERT_EQ(exported.exit, 0) << exported.err;
  Train("second", ", lr_schedule: linear}, start_from: outputs/first", 1);
  const auto score = [&](const std::string& name) { return Result(name)["evaluation"]["return"]["mean"].get<double>(); };
  EXPECT_GT(score("first"), -20);
  EXPECT_GT(score("second"), score("first") - 2) << "an iteration from scratch reaches -24";
}

}  // namespace
}  // namespace backplane::end_to_end
