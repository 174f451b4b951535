#include "rollout/check_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr bp_dtype kFloat{BP_DTYPE_FLOAT, 32, 1}, kFlag{BP_DTYPE_UINT, 8, 1};
const bp_channel kChannels[] = {
    {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 0, kFloat, "obs"},
    {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 0, kFloat, "action"},
    {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, kFloat, "reward"},
    {sizeof(bp_channel), BP_ROLE_TERMINATED, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 0, kFlag, "terminated"}};

CheckedLearnerSpec ReadsTheObservation(uint64_t times) {
  const bp_env_spec env{sizeof(bp_env_spec), 1, kChannels, std::size(kChannels)};
  std::vector<const char*> names(times, "obs");
  names.push_back(nullptr);
  const bp_learner_spec learner{sizeof(bp_learner_spec), 0, names.data(), nullptr, &kChannels[1], 1, 0, 0};
  return CheckSpec("learner.x", &learner, "env.x", CheckSpec("env.x", &env, 0, 1));
}

TEST(CheckSpec, AListMayHaveAsManyNamesAsThereMayBeChannels) {
  EXPECT_EQ(kMaxChannels, ReadsTheObservation(kMaxChannels).act_in.size());
  try {
    ReadsTheObservation(kMaxChannels + 1);
    ADD_FAILURE() << "one more was accepted";
  } catch (const TrialFailure& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("expected NULL after at most 1024 names, got one more"));
  }
}

}  // namespace
}  // namespace backplane
