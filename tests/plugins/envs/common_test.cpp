// What every env owes its host.
#include <algorithm>
#include <cmath>
#include <thread>

#include "places.hpp"
#include "support/allocations.hpp"
#include "support/env_harness.hpp"
#include "support/summaries.hpp"

namespace {

std::string File(const std::string& name) { return name == "null" ? NULL_ENV : BACKPLANE_PLUGIN_DIR "/env_" + name + ".so"; }

// What an env cannot be made without.
nlohmann::json Options(const std::string& name) {
  return name == "summarization" ? Summaries::Instance().options() : nlohmann::json::object();
}

std::vector<uint64_t> Seeds(uint64_t rows) {
  std::vector<uint64_t> seeds(rows);
  for (uint64_t r = 0; r < rows; ++r) seeds[r] = 100 + r;
  return seeds;
}

const bp_channel& ActionOf(const harness::Env& env) {
  const bp_channel* c = env.spec().channels;
  while (c->role != BP_ROLE_ACTION) ++c;
  return *c;
}

void Act(const harness::Env& env, uint64_t rows, int t, uint32_t slot = 0) {
  const bp_channel& action = ActionOf(env);
  for (uint64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < env.Size("action"); ++i) {
      const double x = std::sin(0.7 * t + 3.0 * r + i);
      if (action.space == BP_SPACE_DISCRETE || action.space == BP_SPACE_TOKENS)
        env.At<int32_t>("action", r, slot)[i] = static_cast<int32_t>((0.5 + 0.5 * x) * 0.999 * action.nvec[0]);
      else
        env.At<float>("action", r, slot)[i] = static_cast<float>(x);
    }
}

class EveryEnv : public testing::TestWithParam<const char*> {};

TEST_P(EveryEnv, RepeatsItselfFromTheSameSeedAndInTwoThreads) {
  constexpr uint64_t kRows = 6;
  harness::Env serial(File(GetParam()), kRows, 1, Options(GetParam())),
      parallel(File(GetParam()), kRows, 1, Options(GetParam()));
  ASSERT_TRUE(serial.descriptor().flags & BP_FLAG_ROWS_CONCURRENT);
  ASSERT_EQ(serial.Reset(0, Seeds(kRows)), BP_OK);
  ASSERT_EQ(parallel.Reset(0, Seeds(kRows)), BP_OK);
  for (int t = 0; t < 100; ++t) {
    Act(serial, kRows, t), Act(parallel, kRows, t);
    ASSERT_EQ(serial.Step(), BP_OK);
    std::thread other([&] { EXPECT_EQ(parallel.api().step(parallel.get(), 0, 0, 2), BP_OK); });
    EXPECT_EQ(parallel.api().step(parallel.get(), 0, 2, kRows), BP_OK);
    other.join();
    ASSERT_EQ(serial.Bytes(), parallel.Bytes()) << t;
  }
}

TEST_P(EveryEnv, ResetsOnlyTheMaskedRows) {
  harness::Env env(File(GetParam()), 3, 1, Options(GetParam()));
  ASSERT_EQ(env.Reset(0, Seeds(3)), BP_OK);
  const int64_t n = env.Size("obs");
  for (uint64_t r = 0; r < 3; ++r) std::fill_n(env.Obs(r), n, -77.0f);
  const uint8_t mask[] = {0, 1, 0};
  ASSERT_EQ(env.Reset(0, {7, 8, 9}, mask), BP_OK);
  for (int64_t i = 0; i < n; ++i) EXPECT_TRUE(env.Obs(0)[i] == -77 && env.Obs(1)[i] != -77 && env.Obs(2)[i] == -77);
}

TEST_P(EveryEnv, StepsWithoutAllocating) {
  if (GetParam() == std::string("summarization")) GTEST_SKIP() << "texts have no fixed size";
  harness::Env env(File(GetParam()), 4);
  ASSERT_EQ(env.Reset(0, Seeds(4)), BP_OK);
  const uint64_t before = Allocations();
  for (int t = 0; t < 50; ++t) Act(env, 4, t), env.Step();
  EXPECT_EQ(Allocations(), before);
}

TEST_P(EveryEnv, WritesARolloutLikeASingleSlot) {
  harness::Env single(File(GetParam()), 2, 1, Options(GetParam())), rollout(File(GetParam()), 2, 5, Options(GetParam()));
  ASSERT_EQ(single.Reset(0, Seeds(2)), BP_OK);
  ASSERT_EQ(rollout.Reset(4, Seeds(2)), BP_OK);
  EXPECT_NE(rollout.Step(4), BP_OK);
  for (uint32_t t = 0; t < 4; ++t) {
    Act(single, 2, t), Act(rollout, 2, t, t);
    ASSERT_EQ(single.Step(), BP_OK);
    ASSERT_EQ(rollout.Step(t), BP_OK);
    EXPECT_EQ(single.Bytes(), rollout.Bytes(t));
  }
}

TEST_P(EveryEnv, ContinuesBitForBitFromASnapshot) {
  harness::Env env(File(GetParam()), 1, 1, Options(GetParam())), copy(File(GetParam()), 1, 1, Options(GetParam()));
  if (!env.snapshot()) GTEST_SKIP() << "offers no snapshots";
  ASSERT_EQ(env.Reset(0, {5}), BP_OK);
  for (int t = 0; t < 100; ++t) Act(env, 1, t), env.Step();
  std::vector<char> bytes(env.snapshot()->row_bytes(env.get()));
  ASSERT_EQ(env.snapshot()->get(env.get(), 0, bytes.data()), BP_OK);
  ASSERT_EQ(copy.snapshot()->set(copy.get(), 0, bytes.data()), BP_OK);
  EXPECT_EQ(std::memcmp(env.Obs(), copy.Obs(), env.Size("obs") * sizeof(float)), 0);
  for (int t = 100; t < 300; ++t) {
    Act(env, 1, t), Act(copy, 1, t), env.Step(), copy.Step();
    ASSERT_EQ(env.Bytes(), copy.Bytes()) << t;
  }
  bytes[0] ^= 1;
  EXPECT_EQ(copy.snapshot()->set(copy.get(), 0, bytes.data()), BP_E_INVALID_ARG);
}

const char* const kEnvs[] = {"cartpole",
                             "mountain_car_continuous",
                             "null",
                             "pendulum",
                             "summarization",
                             "template_c",
                             "template_cpp",
                             "uav_grid",
#ifdef HAS_MUJOCO
                             "ant",
                             "half_cheetah",
                             "humanoid",
                             "quadruped_stand"
#endif
};
INSTANTIATE_TEST_SUITE_P(Envs, EveryEnv, testing::ValuesIn(kEnvs),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Template, IsTheSameEnvInCAndInCpp) {
  harness::Env c(File("template_c"), 3), cpp(File("template_cpp"), 3);
  ASSERT_EQ(c.Reset(0, Seeds(3)), BP_OK);
  ASSERT_EQ(cpp.Reset(0, Seeds(3)), BP_OK);
  for (int t = 0; t < 300; ++t) {
    Act(c, 3, t), Act(cpp, 3, t), c.Step(), cpp.Step();
    for (uint64_t r = 0; r < 3; ++r) {
      ASSERT_TRUE(std::equal(c.Obs(r), c.Obs(r) + 2, cpp.Obs(r)));
      for (const char* name : {"reward", "ep/distance"}) ASSERT_EQ(*c.At<float>(name, r), *cpp.At<float>(name, r));
      ASSERT_EQ(*c.At<uint8_t>("terminated", r), *cpp.At<uint8_t>("terminated", r));
    }
  }
}

}  // namespace
