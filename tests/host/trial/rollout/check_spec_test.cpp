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

// The error of a learner with one CARRY channel, or empty.
std::string ErrorOfMemory(const bp_channel& memory, const std::vector<const char*>& act_in, uint64_t env_flags = 0) {
  const bp_env_spec env{sizeof(bp_env_spec), 1, kChannels, std::size(kChannels)};
  const bp_channel outputs[] = {
      kChannels[1], memory, {sizeof(bp_channel), BP_ROLE_EXTRA, BP_SPACE_BOX, 1, 0, kFloat, "final_x"}};
  const bp_learner_spec learner{sizeof(bp_learner_spec), 0, act_in.data(), nullptr, outputs, 3, 0, 0};
  try {
    CheckSpec("learner.x", &learner, "env.x", CheckSpec("env.x", &env, env_flags, 1));
    return "";
  } catch (const TrialFailure& failure) {
    return failure.what();
  }
}

TEST(CheckSpec, RejectsAMemoryThatTheHostCannotKeep) {
  const auto memory = [](const char* name) {
    return bp_channel{sizeof(bp_channel), BP_ROLE_CARRY, BP_SPACE_BOX, BP_SCOPE_AGENT, 0, kFloat, name};
  };
  EXPECT_EQ(ErrorOfMemory(memory("hidden"), {"obs", "hidden", nullptr}), "");
  EXPECT_EQ(ErrorOfMemory(memory("hidden"), {"obs", nullptr}),
            "learner.x: channel 'hidden': expected its name in act_in as well, because `act` reads a CARRY channel, got none");
  EXPECT_EQ(ErrorOfMemory(memory("reward"), {"reward", nullptr}),
            "learner.x: channel 'reward': expected a name that no channel of the env has, got one of env.x");
  EXPECT_EQ(ErrorOfMemory(memory("obs_mean"), {"obs_mean", nullptr}),
            "learner.x: channel 'obs_mean': expected a different name, because the host uses this one, got it for role 19");
  for (const char* name : {"x", "index"})  // EXTRA final_x; the host's final_index
    EXPECT_EQ(ErrorOfMemory(memory(name), {name, nullptr}),
              std::string("learner.x: channel '") + name +
                  "': expected a name X for which 'final_X' is free, because the host keeps the last values of episodes " +
                  "there, got one for which 'final_" + name + "' is taken");
  EXPECT_EQ(
      ErrorOfMemory(memory("hidden"), {"obs", "hidden", nullptr}, BP_FLAG_NATIVE_AUTORESET),
      "learner.x: keeps a memory of each episode ('hidden', CARRY), but env.x starts episodes itself (NATIVE_AUTORESET), so "
      "the host cannot clear the memory in time");
}

TEST(CheckSpec, RejectsLearnersRolesInAnEnv) {
  for (const auto& [role, text] : {std::pair{BP_ROLE_EXTRA, "18 (EXTRA)"}, {BP_ROLE_CARRY, "19 (CARRY)"}}) {
    bp_channel channels[5];
    std::copy(std::begin(kChannels), std::end(kChannels), channels);
    channels[4] = {sizeof(bp_channel), static_cast<uint16_t>(role), BP_SPACE_BOX, BP_SCOPE_ROW, 0, kFloat, "hidden"};
    const bp_env_spec env{sizeof(bp_env_spec), 1, channels, 5};
    try {
      CheckSpec("env.x", &env, 0, 1);
      ADD_FAILURE() << "accepted";
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.what(),
                std::string("env.x: channel 'hidden': expected a role of an env, got ") + text + ", a learner's");
    }
  }
}

}  // namespace
}  // namespace backplane
