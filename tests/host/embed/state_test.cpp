// States by name: set, read and observed; an episode resumes from one as from a reset.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "env.hpp"

namespace backplane::embed_test {
namespace {

class StateTest : public testing::Test {
 protected:
  StateTest() { env.Reset(); }
  bp_status Set(uint64_t row, const char* name, std::vector<double> numbers) const {
    const double* values = numbers.data();
    const uint64_t size = numbers.size();
    return bp_embed_set_state(env.handle, row, 1, &name, &values, &size);
  }
  Env env{"cartpole", 2};
};

TEST_F(StateTest, ReadsBackAndIsObserved) {
  ASSERT_EQ(Set(1, "state", {0.5, -0.25, 0.125, 3}), BP_OK);
  double state[4];
  uint64_t n = 0;
  ASSERT_EQ(bp_embed_get_state(env.handle, 1, "state", state, 4, &n), BP_OK);
  EXPECT_EQ(n, 4u);
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(state[i], (std::vector<double>{0.5, -0.25, 0.125, 3})[i]);
    EXPECT_EQ(env.Of<float>("obs")(1, i), state[i]);
  }
  EXPECT_EQ(bp_embed_get_state(env.handle, 1, "state", nullptr, 0, &n), BP_OK) << "returns only the size";
}

TEST_F(StateTest, RejectsValuesThatDoNotFit) {
  const std::string before = env.Bytes("obs");
  EXPECT_EQ(Set(0, "state", {1, 2, 3}), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: state 'state': expected 4 numbers, got 3");
  EXPECT_EQ(Set(0, "stat", {1, 2, 3, 4}), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: has no state 'stat'; did you mean 'state'?");
  EXPECT_EQ(Set(2, "state", {1, 2, 3, 4}), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: expected a row from 0 to 1, got 2");
  EXPECT_EQ(Set(0, "state", {1, std::nan(""), 3, 4}), BP_E_NUMERIC);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: state 'state'[1] of row 0: expected a finite number, got nan");
  EXPECT_EQ(bp_embed_set_state(env.handle, 0, 1, nullptr, nullptr, nullptr), BP_E_INVALID_ARG);
  EXPECT_EQ(env.Bytes("obs"), before);
}

TEST(States, RejectsEnvWithoutStates) {
  const Env env("uav_grid");
  uint64_t n;
  EXPECT_EQ(bp_embed_get_state(env.handle, 0, "state", nullptr, 0, &n), BP_E_UNSUPPORTED);
  EXPECT_STREQ(bp_embed_error(), "env.uav_grid: does not expose the state of a row (bp.env.inject/1)");
}

// Copies a freshly drawn state into a row that has played; from there both rows act the same, bit for bit. tests/parity
// compares resets to a state with Gymnasium.
class AsAReset : public testing::TestWithParam<const char*> {
 protected:
  static void Act(const Env& env, std::mt19937* draw) {
    const bp_view view = env.Tensor("action");
    int64_t n = 1;
    for (int32_t i = 0; i < view.ndim; ++i) n *= view.shape[i];
    for (int64_t i = 0; i < n; ++i) {
      const auto number = (*draw)();
      if (view.code == 2)
        static_cast<float*>(view.data)[i] = static_cast<float>(number % 2001) / 2500 - 0.4f;
      else
        static_cast<int32_t*>(view.data)[i] = static_cast<int32_t>(number % 2);
    }
  }
};

TEST_P(AsAReset, ContinuesBitForBit) {
  const Env fresh(GetParam()), played(GetParam(), 1, nullptr, 77);
  fresh.Reset();
  played.Reset();
  std::mt19937 draw(5);
  for (int t = 0; t < 5; ++t) {
    Act(played, &draw);
    played.Step();
  }
  ASSERT_FALSE(fresh.Bytes("obs") == played.Bytes("obs"));
  const nlohmann::json state = fresh.Spec().at("state");
  ASSERT_FALSE(state.empty());
  for (const auto& part : state) {
    std::vector<double> numbers(part.at("size").get<size_t>());
    uint64_t n = 0;
    const std::string name = part.at("name");
    ASSERT_EQ(bp_embed_get_state(fresh.handle, 0, name.c_str(), numbers.data(), numbers.size(), &n), BP_OK);
    played.SetState(0, name.c_str(), numbers);  // part by part: the others keep their values
  }
  EXPECT_TRUE(fresh.Bytes("obs") == played.Bytes("obs"));
  for (int t = 0; t < 40; ++t) {
    std::mt19937 same(static_cast<unsigned>(t));
    Act(fresh, &same);
    same.seed(static_cast<unsigned>(t));
    Act(played, &same);
    fresh.Step();
    played.Step();
    ASSERT_EQ(fresh.Of<float>("reward")(0), played.Of<float>("reward")(0)) << t;
    ASSERT_EQ(fresh.Of<uint8_t>("terminated")(0), played.Of<uint8_t>("terminated")(0)) << t;
    if (fresh.Of<uint8_t>("terminated")(0) != 0) break;  // the next episodes have different seeds
    ASSERT_TRUE(fresh.Bytes("obs") == played.Bytes("obs")) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(, AsAReset,
                         testing::Values("acrobot", "cartpole", "pendulum", "mountain_car", "mountain_car_continuous"
#if defined(HAS_MUJOCO)
                                         ,
                                         "ant", "half_cheetah", "hopper", "humanoid", "humanoid_standup",
                                         "inverted_double_pendulum", "inverted_pendulum", "pusher", "reacher", "swimmer",
                                         "walker2d"
#endif
                                         ),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace backplane::embed_test
