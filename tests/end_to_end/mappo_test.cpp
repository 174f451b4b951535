// MAPPO as a user runs it: aliases of keys, and a small grid learned in seconds.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace backplane::end_to_end
