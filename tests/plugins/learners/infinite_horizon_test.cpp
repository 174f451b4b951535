// A cycle of four states with reward 1 for ever, truncated every 8 steps. The value is 1 / (1 - gamma) = 50 for a learner that
// bootstraps at a truncation, and far lower for one that treats it as an end (Stable-Baselines3's tests/test_gae.py).
#include <gtest/gtest.h>

#include "driven_learner.hpp"

namespace backplane::test_support {
namespace {

class Cycle : DrivenLearner {
 public:
  explicit Cycle(bool cut_is_end)
      : DrivenLearner({{"train_batch_size", "32"},
                       {"minibatch_size", "32"},
                       {"gamma", "0.98"},
                       {"lr", "0.01"},
                       {"hidden", "[32]"},
                       {"vf_clip", "false"},
                       {"grad_clip", "0"}}) {
    const bp_channel channels[] = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "obs", &kStates},
        {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0, bp::DtypeOf<int32_t>(), "action", nullptr,
         nullptr, nullptr, &kChoices},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, bp::DtypeOf<float>(), "reward"}};
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels, 3, kSteps, {BP_DEVICE_CPU, 0}};
    Create(spec, kRows);
    EXPECT_EQ(status(), BP_OK) << error();
    for (int64_t i = 0; i < (kSteps + 1) * kRows; ++i) obs_.data[i * kStates + i / kRows % kStates] = 1;
    for (int64_t i = 0; i < kSteps * kRows; ++i) reward_.data[i] = 1;
    for (int64_t row = 0; row < kRows; ++row) {
      const int64_t last = (kSteps - 1) * kRows + row;
      (cut_is_end ? terminated_ : truncated_).data[last] = 1;
      final_index_.data[row] = last, final_obs_.data[row * kStates] = 1;
    }
  }

  double ValueAfter(int iterations) {
    for (int i = 0; i < iterations; ++i) Iterate();
    return value_.data[0];
  }

 private:
  static constexpr int64_t kStates = 4, kChoices = 2, kRows = 4, kSteps = 8;

  void Iterate() {
    Plan();
    for (int64_t t = 0; t < kSteps; ++t) {
      bp_tensor obs = obs_.Entry(t), action = action_.Entry(t), logp = logp_.Entry(t), value = value_.Entry(t);
      bp_tensor *in[] = {&obs}, *out[] = {&action, &logp, &value};
      ASSERT_EQ(Act({sizeof(bp_act), BP_ACT_EXPLORE, 0, kRows, 0, 7, step_++, in, out}), BP_OK);
    }
    const char* names[] = {"obs", "action", "reward", "logp", "value", "terminated", "truncated", "final_obs", "final_index"};
    bp_tensor* tensors[] = {&obs_.tensor,        &action_.tensor,    &reward_.tensor,    &logp_.tensor,       &value_.tensor,
                            &terminated_.tensor, &truncated_.tensor, &final_obs_.tensor, &final_index_.tensor};
    bp_delivery rollout{sizeof(bp_delivery), BP_REQ_ROLLOUT};
    rollout.n_tensors = 9, rollout.names = names, rollout.tensors = tensors;
    ASSERT_EQ(Learn(Consume(rollout)), BP_OK) << error();
  }

  uint64_t step_ = 0;
  Buffer<float> obs_{{kSteps + 1, kRows, kStates}}, final_obs_{{kRows, kStates}};
  Buffer<float> reward_{{kSteps, kRows}}, logp_{{kSteps, kRows}}, value_{{kSteps, kRows}};
  Buffer<int32_t> action_{{kSteps, kRows}};
  Buffer<uint8_t> terminated_{{kSteps, kRows}}, truncated_{{kSteps, kRows}};
  Buffer<int64_t> final_index_{{kRows}};
};

TEST(InfiniteHorizon, TheValueEqualsTheEndlessCycles) { EXPECT_NEAR(Cycle(false).ValueAfter(300), 50, 1); }

TEST(InfiniteHorizon, TheValueIsFarOffIfACutCountsAsAnEnd) { EXPECT_LT(Cycle(true).ValueAfter(300), 10); }

}  // namespace
}  // namespace backplane::test_support
