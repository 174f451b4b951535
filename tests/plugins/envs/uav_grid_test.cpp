// The plugin by its channels: goldens of whole episodes, layout, ends.
#include <gmock/gmock.h>

#include "support/allocations.hpp"
#include "support/env_harness.hpp"
#include "uav_grid_player.hpp"

namespace backplane::uav_grid {
namespace {

struct Episode {
  int arrived = 0, crashed = 0, steps = 0;
  double sum = 0;
};

Episode Play(uint64_t seed, double keep_away, const nlohmann::json& options = nlohmann::json::object()) {
  Player player(options);
  player.Reset(seed);
  Episode out;
  while (!player.over() && out.steps < 200) {
    player.Step(player.Greedy(keep_away));
    ++out.steps;
    for (int i = 0; i < player.n(); ++i) out.sum += player.reward()[i];
  }
  for (int i = 0; i < player.n(); ++i) out.arrived += player.arrived(i), out.crashed += !player.active(i) && !player.arrived(i);
  return out;
}

void ExpectEpisode(const Episode& e, int arrived, int crashed, int steps, double sum) {
  EXPECT_EQ(e.arrived, arrived);
  EXPECT_EQ(e.crashed, crashed);
  EXPECT_EQ(e.steps, steps);
  EXPECT_NEAR(e.sum, sum, 1e-4) << "four decimals, and as much for the rounding of each reward to float32";
}

TEST(UavGrid, PlaysTheKnownEpisodes) {
  ExpectEpisode(Play(1, 0), 8, 2, 38, 579.8183);
  ExpectEpisode(Play(2, 0), 10, 0, 24, 834.3445);
  ExpectEpisode(Play(3, 0), 10, 0, 27, 887.5693);
  ExpectEpisode(Play(42, 0), 10, 0, 29, 862.8376);
  ExpectEpisode(Play(1, 3), 8, 0, 200, 562.1183);
  ExpectEpisode(Play(3, 3), 10, 0, 28, 887.2693);
}

TEST(UavGrid, HasTheShapesOfItsOptions) {
  const auto shapes = [](const nlohmann::json& options) {
    const harness::Env env(kFile, 1, 1, options);
    return std::vector<int64_t>{env.Size("obs") / env.spec().max_agents, env.Size("state"), env.Size("action_mask"),
                                env.spec().max_episode_steps};
  };
  EXPECT_THAT(shapes({}), testing::ElementsAre(174, 1681, 90, 200));
  EXPECT_THAT(shapes({{"state_map", "none"}, {"max_steps", 50}}), testing::ElementsAre(174, 81, 90, 50));
  EXPECT_THAT(shapes({{"grid_size", 12}, {"n_uavs", 3}, {"sensor_radius", 0}}),
              testing::ElementsAre(8 + 10 + 1, 25 + 144, 27, 200));
}

}  // namespace
}  // namespace backplane::uav_grid
