// The plugin through its channels: goldens of whole episodes, layout, ends.
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
  EXPECT_THAT(shapes(nlohmann::json::object()), testing::ElementsAre(174, 1681, 90, 200));
  EXPECT_THAT(shapes({{"state_map", "none"}, {"max_steps", 50}}), testing::ElementsAre(174, 81, 90, 50));
  EXPECT_THAT(shapes({{"grid_size", 12}, {"n_uavs", 3}, {"sensor_radius", 0}}),
              testing::ElementsAre(8 + 10 + 1, 25 + 144, 27, 200));
}

TEST(UavGrid, ShowsThePatchLineByLine) {
  Player player({{"grid_size", 9}, {"n_uavs", 1}, {"n_obstacles", 20}, {"sensor_radius", 8}});
  player.Reset(5);
  const float *patch = player.obs(0) + uav::kSelf, *map = player.env.At<float>("state") + uav::kStatePerUav + 1;
  EXPECT_THAT(std::vector<float>(map, map + 81), testing::Contains(1.0f).Times(20));
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 17; ++x) {
      const int mx = player.x(0) - 8 + x, my = player.y(0) - 8 + y;
      EXPECT_EQ(patch[y * 17 + x], mx < 0 || my < 0 || mx > 8 || my > 8 ? -1 : map[my * 9 + mx]) << mx << ", " << my;
    }
}

TEST(UavGrid, PaysNothingAfterTheEnd) {
  Player player;
  player.Reset(2);
  while (!player.over()) player.Step(player.Greedy(0));
  for (int t = 0; t < 5; ++t) {
    player.Step(std::vector<int32_t>(10, 3));
    EXPECT_TRUE(player.over());
    EXPECT_THAT(std::vector<float>(player.reward(), player.reward() + 10), testing::Each(0.0f));
    EXPECT_THAT(std::vector<float>(player.obs(0), player.obs(0) + 1740), testing::Each(0.0f));
  }
}

TEST(UavGrid, RejectsAnUnknownAction) {
  Player player;
  player.Reset(2);
  std::vector<int32_t> actions(10, 0);
  actions[4] = 9;
  std::copy(actions.begin(), actions.end(), player.env.At<int32_t>("action"));
  EXPECT_EQ(player.env.Step(), BP_E_INVALID_ARG);
  EXPECT_EQ(player.env.error(), "the action of UAV 4 in row 0: expected 0 .. 8, got 9");
}

TEST(UavGrid, AnUnsolvableMapLeavesTheRowUnchanged) {
  harness::Env env(kFile, 2, 1, {{"grid_size", 5}, {"n_uavs", 3}, {"n_obstacles", 14}, {"sensor_radius", 2}});
  // Crowded but usually solvable: this is the first seed without a map.
  const uint64_t good = 0, bad = 252175;
  ASSERT_EQ(env.Reset(0, {good, good}), BP_OK);
  const std::vector<char> before = env.Bytes();
  EXPECT_EQ(env.Reset(0, {good, bad}), BP_E_CONFIG);
  EXPECT_THAT(env.error(), testing::HasSubstr("the episode with seed " + std::to_string(bad)));
  EXPECT_EQ(env.Bytes(), before);
  for (uint64_t r = 0; r < 2; ++r) std::fill_n(env.At<int32_t>("action", r), 3, 0);
  ASSERT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(std::memcmp(env.Obs(0), env.Obs(1), env.Size("obs") * sizeof(float)), 0) << "both continue on the good map";
}

TEST(UavGrid, ResumesFromASnapshotBitForBit) {
  for (const char* map : {"full", "explored", "none"}) {
    Player player({{"state_map", map}, {"collision", "block"}}), copy({{"state_map", map}, {"collision", "block"}});
    const auto random = [](int t) {
      std::vector<int32_t> actions;
      for (int i = 0; i < 10; ++i) actions.push_back(static_cast<int32_t>(bp_seed(1, 0, i, t) % 9));
      return actions;
    };
    player.Reset(9);
    for (int t = 0; t < 60; ++t) player.Step(random(t));
    std::vector<char> bytes(player.env.snapshot()->row_bytes(player.env.get()));
    ASSERT_EQ(player.env.snapshot()->get(player.env.get(), 0, bytes.data()), BP_OK);
    ASSERT_EQ(copy.env.snapshot()->set(copy.env.get(), 0, bytes.data()), BP_OK);
    for (int t = 60; t < 150; ++t) {
      player.Step(random(t)), copy.Step(random(t));
      ASSERT_EQ(player.env.Bytes(), copy.env.Bytes()) << t;
    }
  }
}

TEST(UavGrid, RejectsASnapshotOfADifferentGrid) {
  // The same number of values per channel, but a different grid.
  harness::Env small(kFile, 1, 1, {{"grid_size", 30}, {"state_map", "none"}}), large(kFile, 1, 1, {{"state_map", "none"}});
  std::vector<char> bytes(large.snapshot()->row_bytes(large.get()));
  ASSERT_EQ(small.Reset(0, {1}), BP_OK);
  ASSERT_EQ(small.snapshot()->get(small.get(), 0, bytes.data()), BP_OK);
  EXPECT_EQ(large.snapshot()->set(large.get(), 0, bytes.data()), BP_E_INVALID_ARG);
}

TEST(UavGrid, ResetsWithoutAllocatingAfterTheFirstTime) {
  harness::Env env(kFile, 4);
  std::vector<uint64_t> seeds{1, 2, 3, 4};
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  const uint64_t before = Allocations();
  for (int i = 0; i < 50; ++i) {
    for (uint64_t& seed : seeds) seed += 4;
    ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  }
  EXPECT_EQ(Allocations(), before);
}

}  // namespace
}  // namespace backplane::uav_grid
