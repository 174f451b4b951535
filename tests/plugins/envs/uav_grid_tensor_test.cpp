// The tensor env equals the scalar one bit for bit in every output, over random options, maps and actions.
#include <gmock/gmock.h>

#include "backplane/channels.hpp"
#include "backplane/ext/autoreset.h"
#include "places.hpp"
#include "support/env_harness.hpp"

namespace backplane {
namespace {

constexpr uint64_t kSeed = 20;

// scripts/check_gpu runs this test on a different machine than the one that built it.
std::string Folder(const char* variable, const char* built) {
  const char* named = std::getenv(variable);
  return named != nullptr ? named : built;
}

// Loads LibTorch first, as the host does.
const std::string kPlugins = Folder("BACKPLANE_PLUGIN_PATH", BACKPLANE_PLUGIN_DIR);
const std::string kScalar = kPlugins + "/env_uav_grid.so";
std::string TensorFile() {
  static void* const torch =
      dlopen((Folder("BACKPLANE_TORCH_LIB", TORCH_LIB) + "/libtorch.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!torch) throw std::runtime_error(dlerror());
  return kPlugins + "/env_uav_grid_tensor.so";
}

std::string Bytes(const harness::Env& env, const std::string& channel, uint64_t row, uint64_t rows = 1) {
  for (uint64_t c = 0; c < env.spec().n_channels; ++c) {
    const bp_channel& spec = env.spec().channels[c];
    if (spec.name != channel) continue;
    uint64_t bytes = spec.dtype.bits / 8 * (spec.scope == BP_SCOPE_AGENT ? env.spec().max_agents : 1);
    for (int i = 0; i < spec.ndim; ++i) bytes *= spec.shape[i];
    return {env.At<char>(channel) + row * bytes, rows * bytes};
  }
  throw std::runtime_error("no channel " + channel);
}

bp_status NextSeeds(harness::Env& env, const std::vector<uint64_t>& seeds, uint64_t per_row) {
  const auto* autoreset = static_cast<const bp_env_autoreset_1*>(env.api().get_extension(env.get(), BP_ENV_AUTORESET_1));
  return autoreset->next_seeds(env.get(), per_row, seeds.data());
}

// Options that nearly always have a solvable map.
nlohmann::json RandomOptions(bp_rng* rng) {
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(bp_rng_below(rng, n)); };
  const auto weight = [&] { return bp_rng_range(rng, -3, 3); };
  const int64_t side = 5 + below(18), uavs = 1 + below(9);
  const char* const collisions[] = {"crash", "block", "priority"};
  const char* const maps[] = {"full", "explored", "none"};
  return {{"grid_size", side},
          {"n_uavs", side * side < 5 * uavs ? 2 : uavs},
          {"n_obstacles", below(side * side / 8)},
          {"max_steps", 1 + below(40)},
          {"sensor_radius", below(std::min<int64_t>(side, 7))},
          {"goal_radius", below(2) ? 1.5 : 0.5},
          {"collision", collisions[below(3)]},
          {"state_map", maps[below(3)]},
          {"mask_static", below(2) == 1},
          {"step", weight()},
          {"progress", weight()},
          {"goal", 10 * weight()},
          {"crash", 10 * weight()},
          {"team", 10 * weight()},
          {"others", below(2) ? "list" : "patches"},
          {"patch_dtype", below(2) ? "float32" : "int8"},
          {"team_share", below(2) ? bp_rng_uniform(rng) : 0.0}};
}

class Twins {
 public:
  Twins(const nlohmann::json& options, bool run_ahead, const char* device, bp_rng* rng)
      : options_(options),
        rng_(rng),
        rows_(1 + bp_rng_below(rng, 6)),
        scalar_(kScalar, rows_, 1, options),
        tensor_(MakeTensor(run_ahead, device)) {}

  // Steps both until `episodes` have ended, in rollouts of several lengths. Stops at the first difference.
  int Play(int episodes) {
    std::vector<uint64_t> seeds(rows_);
    for (uint64_t r = 0; r < rows_; ++r) seeds[r] = SeedOf(r, 0);
    EXPECT_EQ(scalar_.Reset(0, seeds), BP_OK) << scalar_.error();
    EXPECT_EQ(tensor_->Reset(0, seeds), BP_OK) << tensor_->error();
    ExpectSameStates("after the reset");
    while (ended_ < episodes && !testing::Test::HasFailure()) {
      const uint64_t horizon = 1 + bp_rng_below(rng_, 40);
      std::vector<uint64_t> next;
      for (uint64_t r = 0; r < rows_; ++r)
        for (uint64_t k = 1; k <= horizon; ++k) next.push_back(SeedOf(r, episode_[r] + k));
      EXPECT_EQ(NextSeeds(*tensor_, next, horizon), BP_OK) << tensor_->error();
      for (uint64_t t = 0; t < horizon && !testing::Test::HasFailure(); ++t) Step();
    }
    return ended_;
  }

 private:
  std::unique_ptr<harness::Env> MakeTensor(bool run_ahead, const char* device) {
    nlohmann::json options = options_;
    options["run_ahead"] = run_ahead ? "always" : "never", options["device"] = device;
    return std::make_unique<harness::Env>(TensorFile(), rows_, 1, options);
  }
  uint64_t SeedOf(uint64_t row, uint64_t episode) const { return bp_seed(kSeed, BP_PURPOSE_ENV_EPISODE, row, episode); }

  void Act() {
    const uint64_t agents = rows_ * scalar_.spec().max_agents;
    const bool masked = bp_rng_below(rng_, 4) != 0;
    for (uint64_t i = 0; i < agents; ++i) {
      int32_t action = 0;
      do action = static_cast<int32_t>(bp_rng_below(rng_, 9));
      while (masked && !scalar_.At<uint8_t>("action_mask")[i * 9 + action]);
      scalar_.At<int32_t>("action")[i] = tensor_->At<int32_t>("action")[i] = action;
    }
  }

  void Step() {
    Act();
    ASSERT_EQ(scalar_.Step(), BP_OK) << scalar_.error();
    ASSERT_EQ(tensor_->Step(), BP_OK) << tensor_->error();
    for (uint64_t c = 0; c < scalar_.spec().n_channels; ++c) {
      const bp_channel& channel = scalar_.spec().channels[c];
      if (channel.role == BP_ROLE_REWARD || channel.role == BP_ROLE_TERMINATED || channel.role == BP_ROLE_INFO)
        ExpectSame(channel.name, channel.name, 0, rows_, "after a step");
    }
    std::vector<uint8_t> over(rows_);
    std::vector<uint64_t> seeds(rows_);
    for (uint64_t r = 0; r < rows_; ++r) {
      const bool cut = ++length_[r] >= options_["max_steps"];
      ASSERT_EQ(tensor_->At<uint8_t>("truncated")[r], cut);
      over[r] = cut || scalar_.At<uint8_t>("terminated")[r];
      if (!over[r]) continue;
      ExpectSame("obs", "final_obs", r, 1, "at an end");
      ExpectSame("state", "final_state", r, 1, "at an end");
      for (const char* name : {"patch", "map"})
        if (bp::FindChannel(scalar_.spec(), name)) ExpectSame(name, "final_" + std::string(name), r, 1, "at an end");
      seeds[r] = SeedOf(r, ++episode_[r]);
      length_[r] = 0;
      ++ended_;
    }
    ASSERT_EQ(scalar_.Reset(0, seeds, over.data()), BP_OK) << scalar_.error();
    ExpectSameStates("after a step");
  }

  void ExpectSameStates(const char* when) {
    for (const char* channel : {"obs", "state", "action_mask", "alive", "patch", "map"})
      if (bp::FindChannel(scalar_.spec(), channel)) ExpectSame(channel, channel, 0, rows_, when);
  }
  void ExpectSame(const std::string& scalar, const std::string& tensor, uint64_t row, uint64_t rows, const char* when) {
    ASSERT_TRUE(Bytes(scalar_, scalar, row, rows) == Bytes(*tensor_, tensor, row, rows))
        << tensor << " " << when << ", " << options_;
  }

  const nlohmann::json options_;
  bp_rng* rng_;
  const uint64_t rows_;
  harness::Env scalar_;
  std::unique_ptr<harness::Env> tensor_;
  std::map<uint64_t, uint64_t> episode_;
  std::map<uint64_t, int64_t> length_;
  int ended_ = 0;
};

void ExpectTwins(const char* device, int wanted_episodes) {
  bp_rng rng{kSeed, 0};
  int episodes = 0, settings = 0;
  for (; episodes < wanted_episodes && !testing::Test::HasFailure(); ++settings) {
    const nlohmann::json options = RandomOptions(&rng);
    episodes += Twins(options, settings % 2 == 1, device, &rng).Play(8);
  }
  EXPECT_GE(settings, wanted_episodes / 35);
}

TEST(UavGridTensor, EqualsTheScalarEnvOnAThousandRandomEpisodes) { ExpectTwins("cpu", 1000); }

TEST(UavGridTensor, EqualsTheScalarEnvOnAGpuToo) {
  try {
    harness::Env(TensorFile(), 1, 1, {{"device", "cuda"}});
  } catch (const std::runtime_error& e) {
    GTEST_SKIP() << e.what();
  }
  ExpectTwins("cuda", 300);
}

TEST(UavGridTensor, HasTheChannelsOfTheScalarEnvAndItsOwnEnds) {
  for (const char* dtype : {"float32", "int8"}) {
    const harness::Env scalar(kScalar, 2, 1, {{"patch_dtype", dtype}}), tensor(TensorFile(), 2, 1, {{"patch_dtype", dtype}});
    std::vector<std::string> names, wanted;
    for (uint64_t c = 0; c < tensor.spec().n_channels; ++c) names.push_back(tensor.spec().channels[c].name);
    for (uint64_t c = 0; c < scalar.spec().n_channels; ++c) wanted.push_back(scalar.spec().channels[c].name);
    wanted.insert(wanted.end(), {"truncated", "final_obs", "final_state"});
    if (dtype == std::string("int8")) wanted.insert(wanted.end(), {"final_patch", "final_map"});
    EXPECT_EQ(names, wanted);
    EXPECT_EQ(tensor.spec().max_episode_steps, scalar.spec().max_episode_steps);
  }
}

TEST(UavGridTensor, NewSeedsReplaceThoseGivenBefore) {
  const nlohmann::json options = {{"max_steps", 1}, {"grid_size", 12}, {"n_obstacles", 5}, {"n_uavs", 3}};
  harness::Env env(TensorFile(), 1, 1, options), other(TensorFile(), 1, 1, options);
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  ASSERT_EQ(NextSeeds(env, {2, 3, 4}, 3), BP_OK);
  ASSERT_EQ(env.Step(), BP_OK);
  ASSERT_EQ(NextSeeds(env, {7, 8}, 2), BP_OK);
  ASSERT_EQ(env.Step(), BP_OK);
  ASSERT_EQ(other.Reset(0, {7}), BP_OK);
  EXPECT_TRUE(Bytes(env, "obs", 0) == Bytes(other, "obs", 0));
}

TEST(UavGridTensor, NamesAWrongActionAtTheNextLook) {
  harness::Env env(TensorFile(), 3);
  ASSERT_EQ(env.Reset(0, {1, 2, 3}), BP_OK);
  ASSERT_EQ(NextSeeds(env, {4, 5, 6}, 1), BP_OK);
  env.At<int32_t>("action")[2 * 10 + 4] = -7;
  ASSERT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(NextSeeds(env, {4, 5, 6}, 1), BP_E_INVALID_ARG);
  EXPECT_EQ(env.error(), "the action of UAV 4 in row 2: expected 0 .. 8, got -7, some steps ago");
}

TEST(UavGridTensor, TakesNoMoreUavsThanItsPairsAllow) {
  try {
    harness::Env many(TensorFile(), 1, 1, {{"n_uavs", 257}, {"others", "patches"}});
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("n_uavs: expected at most 256, got 257 (test.yaml:n_uavs)"));
  }
}

TEST(UavGridTensor, ReportsThatARowHasNoSeedLeft) {
  harness::Env env(TensorFile(), 1, 1, {{"max_steps", 1}});
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  ASSERT_EQ(NextSeeds(env, {2}, 1), BP_OK);
  ASSERT_EQ(env.Step(), BP_OK);
  ASSERT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(NextSeeds(env, {3}, 1), BP_E_INTERNAL);
  EXPECT_EQ(env.error(), "row 0 has started 1 more episodes than it was given seeds for");
}

TEST(UavGridTensor, RejectsAnUnsolvableMapAndAMissingGpuWithTheirReason) {
  harness::Env env(TensorFile(), 1, 1,
                   {{"grid_size", 3}, {"n_uavs", 1}, {"n_obstacles", 0}, {"sensor_radius", 1}, {"goal_radius", 9.0}});
  EXPECT_EQ(env.Reset(0, {5}), BP_E_CONFIG);
  EXPECT_THAT(env.error(), testing::HasSubstr("unsolvable_map: 100 maps of the episode with seed 5"));
  try {
    harness::Env cuda(TensorFile(), 1, 1, {{"device", "cuda"}});
    EXPECT_EQ(cuda.spec().device.type, BP_DEVICE_CUDA) << "there is a GPU";
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("device is cuda (test.yaml:device), but LibTorch"),
                                         testing::HasSubstr("has no CUDA or finds no GPU")));
  }
}

}  // namespace
}  // namespace backplane
