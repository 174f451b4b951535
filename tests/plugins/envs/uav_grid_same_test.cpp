// Compares the plugin with the plain grid of uav_grid_reference.hpp: every channel of every step, over random options.
#include <gtest/gtest.h>

#include "backplane/env.hpp"
#include "support/env_harness.hpp"
#include "support/uav_options.hpp"
#include "uav_grid_player.hpp"
#include "uav_grid_reference.hpp"

namespace backplane::uav_grid {
namespace {

const char* const kStatistics[] = {"ep/success_rate", "ep/crash_rate",       "ep/timeout_rate",     "ep/all_arrived",
                                   "ep/path_length",  "ep/conflicts_static", "ep/conflicts_vertex", "ep/conflicts_edge"};

// Crowded grids of all sizes, for many conflicts.
nlohmann::json RandomOptions(bp::Rng& rng) {
  const auto pick = [&rng](int64_t low, int64_t high) { return low + static_cast<int64_t>(rng.Below(high - low + 1)); };
  const int64_t side = pick(4, 24), n_uavs = pick(1, std::min<int64_t>(side * side / 4, 30));
  return {{"grid_size", side},
          {"n_uavs", n_uavs},
          {"n_obstacles", pick(0, (side * side - 2 * n_uavs) / 5)},
          {"max_steps", pick(5, 60)},
          {"sensor_radius", pick(0, std::min<int64_t>(side - 1, 9))},
          {"goal_radius", pick(0, 1) ? 0.5 : 1.5},
          {"collision", std::vector<std::string>{"crash", "block", "priority"}[pick(0, 2)]},
          {"state_map", std::vector<std::string>{"full", "explored", "none"}[pick(0, 2)]},
          {"mask_static", pick(0, 3) > 0},
          {"others", pick(0, 1) ? "list" : "patches"},
          {"patch_dtype", pick(0, 1) ? "float32" : "int8"},
          {"team_share", pick(0, 1) ? 0.0 : 0.3}};
}

// An action per UAV, usually one that its mask allows.
void DrawActions(const harness::Env& env, bp::Rng& rng) {
  const int64_t n = env.Size("action");
  const uint8_t* mask = env.At<uint8_t>("action_mask");
  for (int64_t i = 0; i < n; ++i) {
    int32_t a = static_cast<int32_t>(rng.Below(uav::kActions));
    for (int k = 0; k < 8 && !mask[i * uav::kActions + a]; ++k) a = static_cast<int32_t>(rng.Below(uav::kActions));
    env.At<int32_t>("action")[i] = a;
  }
}

template <class T>
void ExpectChannel(const harness::Env& env, const char* name, const std::vector<T>& wanted) {
  ASSERT_EQ(static_cast<size_t>(env.Size(name)), wanted.size()) << name;
  const T* found = env.At<T>(name);
  for (size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(found[k], wanted[k]) << name << "[" << k << "]";
}

// `name`; if the env has the channel `bytes`, its numbers follow the numbers of `name` for each of the `n`.
std::vector<float> Joined(const harness::Env& env, const char* name, const char* bytes, int64_t n) {
  const bool has = bp::FindChannel(env.spec(), bytes) != nullptr;
  const int64_t size = env.Size(name) / n, more = has ? env.Size(bytes) / n : 0;
  std::vector<float> out;
  for (int64_t i = 0; i < n; ++i) {
    out.insert(out.end(), env.At<float>(name) + i * size, env.At<float>(name) + (i + 1) * size);
    if (has) out.insert(out.end(), env.At<int8_t>(bytes) + i * more, env.At<int8_t>(bytes) + (i + 1) * more);
  }
  return out;
}

void ExpectObservation(const harness::Env& env, const Reference& plain) {
  ASSERT_EQ(Joined(env, "obs", "patch", env.spec().max_agents), plain.Obs());
  ASSERT_EQ(Joined(env, "state", "map", 1), plain.State());
  ASSERT_NO_FATAL_FAILURE(ExpectChannel(env, "action_mask", plain.Mask()));
  ASSERT_NO_FATAL_FAILURE(ExpectChannel(env, "alive", plain.Alive()));
}

void PlayBeside(harness::Env& env, Reference& plain, uint64_t seed, bp::Rng& rng) {
  ASSERT_EQ(env.Reset(0, {seed}), BP_OK) << env.error();
  plain.Reset(seed);
  ASSERT_NO_FATAL_FAILURE(ExpectObservation(env, plain));
  for (int64_t t = 0; t < env.spec().max_episode_steps; ++t) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(t));
    DrawActions(env, rng);
    ASSERT_EQ(env.Step(), BP_OK);
    plain.Step(env.At<int32_t>("action"));
    ASSERT_NO_FATAL_FAILURE(ExpectObservation(env, plain));
    for (size_t i = 0; i < plain.reward.size(); ++i) ASSERT_NEAR(env.At<float>("reward")[i], plain.reward[i], 1e-5) << i;
    ASSERT_NO_FATAL_FAILURE(ExpectChannel(env, "agent_ended", plain.ended));
    ASSERT_EQ(*env.At<uint8_t>("terminated"), plain.over());
    const std::vector<float> statistics = plain.Statistics();
    for (size_t k = 0; k < statistics.size(); ++k) ASSERT_EQ(*env.At<float>(kStatistics[k]), statistics[k]) << kStatistics[k];
  }
}

TEST(UavGrid, IsThePlainGridInEveryChannelAndStep) {
  bp::Rng rng(20);
#if defined(__SANITIZE_ADDRESS__)
  constexpr int kRounds = 40;
#else
  constexpr int kRounds = 150;
#endif
  for (int round = 0; round < kRounds; ++round) {
    nlohmann::json options = RandomOptions(rng);
    SCOPED_TRACE(options.dump());
    harness::Env env(kFile, 1, 1, options);
    options.erase("patch_dtype");
    Reference plain(uav::OptionsWith(options));
    for (uint64_t episode = 0; episode < 3; ++episode) ASSERT_NO_FATAL_FAILURE(PlayBeside(env, plain, rng.U64(), rng));
  }
}

TEST(UavGrid, IsThePlainGridWithItsDefaults) {
  for (const char* map : {"full", "explored", "none"}) {
    bp::Rng rng(21);
    const nlohmann::json options = {{"state_map", map}};
    harness::Env env(kFile, 1, 1, options);
    Reference plain(uav::OptionsWith(options));
    for (uint64_t seed = 0; seed < 10; ++seed) ASSERT_NO_FATAL_FAILURE(PlayBeside(env, plain, seed, rng));
  }
}

TEST(UavGrid, IsThePlainGridWithManyUavs) {
  for (const char* collision : {"crash", "block", "priority"}) {
    bp::Rng rng(22);
    const nlohmann::json options = {{"n_uavs", 400},       {"n_obstacles", 300},     {"grid_size", 70}, {"sensor_radius", 3},
                                    {"others", "patches"}, {"collision", collision}, {"max_steps", 4}};
    harness::Env env(kFile, 1, 1, options);
    Reference plain(uav::OptionsWith(options));
    ASSERT_NO_FATAL_FAILURE(PlayBeside(env, plain, 1, rng));
  }
}

}  // namespace
}  // namespace backplane::uav_grid
