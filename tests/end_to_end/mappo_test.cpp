// MAPPO as a user meets it: names of the field, and a small grid learned in seconds.
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

TEST_F(Mappo, ANameOfTheFieldBesideTheHostsKeyIsAnError) {
  Write("twice.yaml", R"(experiment: twice
env: {plugin: uav_grid}
learner: {plugin: mappo, options: {num_workers: 3}}
rollout: {num_env_runners: 3}
budget: {iterations: 2}
)");
  const Finished run = Run("run twice.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("'num_workers' is another name of 'rollout.num_env_runners', which is set too"));
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
