// The grid in the host's collector, with UAVs that fly at random.
#include <gmock/gmock.h>

#include "places.hpp"
#include "support/rollout_host.hpp"

namespace backplane::uav_grid {
namespace {

constexpr uint64_t kRows = 10, kHorizon = 60;

// Rollouts of env.uav_grid with actions drawn evenly from the masks.
struct Trial {
  explicit Trial(const nlohmann::json& options, unsigned threads = 1)
      : host({.file = BACKPLANE_PLUGIN_DIR "/env_uav_grid.so",
              .rows = kRows,
              .chunk_rows = 3,
              .horizon = kHorizon,
              .threads = threads,
              .masked = true,
              .options = options}) {}
  void Collect() { host.Collect(); }
  RolloutCollector& collector() { return host.collector(); }
  template <class T>
  const T* At(const std::string& channel, uint64_t t, uint64_t row) {
    const uint64_t lead = host.env().Lead(*bp::FindChannel(host.env().spec(), channel)) / kRows;
    return reinterpret_cast<const T*>(collector().Buffer(channel)->row(t, row * lead));
  }
  bool Truncated(uint64_t t, uint64_t row) { return *collector().Buffer("truncated")->at<uint8_t>(t, row) != 0; }
  // Every channel of every step, as bytes.
  std::string Bytes() {
    std::string out;
    for (const bp_channel* c : host.env().channels()) {
      ChannelBuffer& buffer = *collector().Buffer(c->name);
      for (uint64_t t = 0; t < kHorizon; ++t)
        out.append(reinterpret_cast<const char*>(buffer.row(t, 0)), host.env().Lead(*c) * buffer.row_bytes());
    }
    return out;
  }

  test_support::Host host;
};

TEST(UavGridRollout, HasTheSameBytesForAnyNumberOfThreads) {
  std::vector<std::string> seen;
  for (const unsigned threads : {1u, 2u, 3u}) {
    Trial trial({{"max_steps", 25}, {"state_map", "explored"}}, threads);
    std::string bytes;
    for (int i = 0; i < 3; ++i) trial.Collect(), bytes += trial.Bytes();
    seen.push_back(bytes);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(UavGridRollout, IsCutAtTheTimeLimitUnlessAllEnded) {
  Trial trial({{"max_steps", 20}, {"n_uavs", 3}, {"mask_static", false}});
  for (int i = 0; i < 3; ++i) trial.Collect();
  uint64_t cut = 0, ended = 0;
  const std::vector<std::string>& names = trial.collector().info_names();
  const auto timeout = std::find(names.begin(), names.end(), "ep/timeout_rate") - names.begin();
  for (const Episode& e : trial.collector().episodes()) {
    const bool terminated = *trial.At<uint8_t>("terminated", e.t, e.row) != 0;
    EXPECT_LE(e.length, 20);
    EXPECT_EQ(trial.Truncated(e.t, e.row), e.length == 20);
    EXPECT_EQ(e.info[timeout] == 0, terminated) << "agents alive at the limit have run out of time";
    ++(terminated ? ended : cut);
  }
  EXPECT_GT(cut, 0u);
  EXPECT_GT(ended, 0u);
}

TEST(UavGridRollout, ReturnsAreTheRewardsOfAllUavs) {
  Trial trial(nlohmann::json{{"max_steps", 25}});
  trial.Collect();
  uint64_t whole = 0;
  for (const Episode& e : trial.collector().episodes()) {
    if (static_cast<uint64_t>(e.length) != e.t + 1) continue;
    double sum = 0;
    for (uint64_t t = 0; t <= e.t; ++t)
      for (int i = 0; i < 10; ++i) sum += trial.At<float>("reward", t, e.row)[i];
    EXPECT_NEAR(e.episode_return, sum, 1e-9);
    ++whole;
  }
  EXPECT_EQ(whole, kRows) << "the rollout contains each row's first episode";
}

TEST(UavGridRollout, NoUavRevivesWithinAnEpisodeOrEarnsAfterItsEnd) {
  Trial trial({{"max_steps", 40}, {"mask_static", false}});
  uint64_t ends = 0;
  for (int i = 0; i < 3; ++i) {
    trial.Collect();
    for (uint64_t row = 0; row < kRows; ++row)
      for (uint64_t t = 0; t + 1 < kHorizon; ++t) {
        const bool done = *trial.At<uint8_t>("terminated", t, row) || trial.Truncated(t, row);
        const uint8_t *alive = trial.At<uint8_t>("alive", t, row), *next = trial.At<uint8_t>("alive", t + 1, row);
        const uint8_t* ended = trial.At<uint8_t>("agent_ended", t, row);
        for (int a = 0; a < 10; ++a) {
          EXPECT_EQ(next[a], done ? 1 : alive[a] && !ended[a]) << "a done row shows the next episode";
          if (!alive[a]) {
            EXPECT_EQ(trial.At<float>("reward", t, row)[a], 0) << "no team reward either: some crashed or have not arrived";
          }
          ends += ended[a];
        }
      }
  }
  EXPECT_GT(ends, 20u);
}

TEST(UavGridRollout, WithoutASolvableMapTheTrialEndsNamingTheSeed) {
  Trial trial({{"grid_size", 10}, {"n_obstacles", 80}});
  try {
    trial.Collect();
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_EQ(e.status(), BP_E_CONFIG);
    EXPECT_THAT(e.what(),
                ::testing::AllOf(::testing::StartsWith("env.uav_grid: "), ::testing::HasSubstr("unsolvable_map"),
                                 ::testing::HasSubstr(
                                     "seed " + std::to_string(bp_seed(test_support::kEnvSeed, BP_PURPOSE_ENV_EPISODE, 0, 0)))));
  }
}

}  // namespace
}  // namespace backplane::uav_grid
