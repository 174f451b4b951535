// Tests of every env for the thread sanitizer. The other rules are tested in tests/tools/validate/shipped_test.cpp.
#include <algorithm>
#include <cmath>
#include <thread>

#include "places.hpp"
#include "support/env_harness.hpp"
#include "support/summaries.hpp"

namespace {

std::string File(const std::string& name) {
  const bool of_tests = name == "null" || name.starts_with("template_");
  return (of_tests ? BACKPLANE_BINARY_DIR "/tests/plugins/env_" : BACKPLANE_PLUGIN_DIR "/env_") + name + ".so";
}

// Options that the env requires.
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

const char* const kEnvs[] = {"acrobot",
                             "cartpole",
                             "mountain_car",
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
                             "hopper",
                             "humanoid",
                             "humanoid_standup",
                             "inverted_double_pendulum",
                             "inverted_pendulum",
                             "pusher",
                             "quadruped_stand",
                             "reacher",
                             "swimmer",
                             "walker2d"
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
