#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using backplane::test_support::Buffer;
using backplane::test_support::FakeHost;

constexpr int64_t kThree = 3;
constexpr double kLow = -2, kHigh = 3;

// The learner on an env with one action channel, and a mask if `masked`.
struct Fixture {
  explicit Fixture(bool discrete, const char* policy = "uniform", bool masked = false)
      : host(*bp_module_v1()->descriptor(0), {{"policy", policy}}) {
    std::vector<bp_channel> channels(1 + masked);
    channels[0] = {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1,       bp::DtypeOf<float>(),
                   "action",           &kThree,        &kLow,        &kHigh,       nullptr, 1};
    if (discrete) {
      channels[0] = {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0,      bp::DtypeOf<int32_t>(),
                     "action",           nullptr,        nullptr,           nullptr,      &kThree};
    }
    if (masked) {
      channels[1] = {sizeof(bp_channel),
                     BP_ROLE_ACTION_MASK,
                     BP_SPACE_MULTI_BINARY,
                     BP_SCOPE_ROW,
                     1,
                     bp::DtypeOf<uint8_t>(),
                     "action_mask",
                     &kThree};
    }
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels.data(), channels.size()};
    EXPECT_EQ(api->create(&host.host, &host.config, &spec, 100, 1, &learner), BP_OK) << host.error;
  }
  ~Fixture() { api->destroy(learner); }
  void Act(bp_tensor* out, bp_tensor* in, uint64_t begin, uint64_t end, uint64_t step) {
    const bp_act act{sizeof(bp_act), 0, begin, end, 0, 5, step, &in, &out};
    EXPECT_EQ(api->act(learner, &act), BP_OK) << host.error;
  }
  FakeHost host;
  const bp_learner_api* api = static_cast<const bp_learner_api*>(bp_module_v1()->api("learner.random"));
  bp_learner* learner = nullptr;
};

TEST(Random, BoxActionsFillTheBoundsAndDependOnRowAndStepOnly) {
  Fixture f(false);
  Buffer<float> whole({100, 3}), parts({100, 3}), later({100, 3});
  f.Act(&whole.tensor, nullptr, 0, 100, 0);
  f.Act(&parts.tensor, nullptr, 60, 100, 0), f.Act(&parts.tensor, nullptr, 0, 60, 0);
  f.Act(&later.tensor, nullptr, 0, 100, 1);
  EXPECT_EQ(whole.data, parts.data);
  EXPECT_NE(whole.data, later.data);
  for (float x : whole.data) EXPECT_TRUE(x >= kLow && x <= kHigh);
}

TEST(Random, KeepsToTheMask) {
  Fixture f(true, "uniform", true);
  Buffer<int32_t> action({100});
  Buffer<uint8_t> mask({100, 3});
  for (int row = 0; row < 100; ++row) mask.data[row * 3 + row % 3] = 1;
  f.Act(&action.tensor, &mask.tensor, 0, 100, 0);
  for (int row = 0; row < 100; ++row) EXPECT_EQ(action.data[row], row % 3);
}

TEST(Random, ZeroActsWithZeros) {
  Fixture f(false, "zero");
  Buffer<float> action({100, 3});
  std::fill(action.data.begin(), action.data.end(), 9.f);
  f.Act(&action.tensor, nullptr, 0, 100, 0);
  for (float x : action.data) EXPECT_EQ(x, 0);
}

TEST(Random, AsksForRolloutsForever) {
  Fixture f(true);
  const bp_limits limits{sizeof(bp_limits)};
  bp_request request{sizeof(bp_request)};
  const bp_delivery rollout{sizeof(bp_delivery), BP_REQ_ROLLOUT};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(f.api->plan(f.learner, &limits, &request), BP_OK);
    EXPECT_EQ(request.kind, uint32_t{BP_REQ_ROLLOUT});
    EXPECT_EQ(request.u.rollout.horizon, 128u);
    ASSERT_EQ(f.api->consume(f.learner, &rollout), BP_OK);
  }
}

}  // namespace
