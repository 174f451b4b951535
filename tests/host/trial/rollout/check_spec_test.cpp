#include "rollout/check_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

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

// Two groups of agents, "pair" and "solo"; a test changes one part of it.
struct GroupedSpec {
  GroupedSpec() {
    const auto add = [&](uint16_t role, const char* name, uint32_t group) {
      channels.push_back({sizeof(bp_channel), role, BP_SPACE_BOX, BP_SCOPE_AGENT, 0, kFloat, name});
      channels.back().group = group;
    };
    add(BP_ROLE_OBS, "pair/obs", 1), add(BP_ROLE_ACTION, "pair/action", 1);
    add(BP_ROLE_OBS, "solo/obs", 2), add(BP_ROLE_ACTION, "solo/action", 2);
    add(BP_ROLE_REWARD, "reward", 0);
    channels.push_back(kChannels[3]);
  }
  bp_env_spec Spec() const {
    return {sizeof(bp_env_spec), agents, channels.data(), channels.size(), 0, {}, groups.data(), groups.size()};
  }
  std::string Error() const {
    const bp_env_spec spec = Spec();
    try {
      CheckSpec("env.x", &spec, 0, 4);
      return "";
    } catch (const TrialFailure& failure) {
      return failure.what();
    }
  }
  uint32_t agents = 3;
  std::vector<bp_channel> channels;
  std::vector<bp_group> groups = {{sizeof(bp_group), 2, "pair"}, {sizeof(bp_group), 1, "solo"}};
};

std::string ErrorWith(const std::function<void(GroupedSpec*)>& change) {
  GroupedSpec spec;
  change(&spec);
  return spec.Error();
}

TEST(CheckSpec, RejectsInconsistentGroups) {
  EXPECT_EQ(ErrorWith([](GroupedSpec*) {}), "");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->agents = 4; }),
            "env.x: spec: expected max_agents 3, the agents of all groups, got 4");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->groups[1].agents = 0; }), "env.x: group 'solo': expected 1 agent or more, got 0");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->groups[1].name = "pair"; }),
            "env.x: group 'pair': expected a name of its own, got that of group 0");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->groups[1].name = nullptr; }), "env.x: group 1: expected a name, got NULL");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->channels[3].group = 1; }),
            "env.x: group 'solo': expected a channel of role 3 (ACTION) with group 2, got none");
  for (const uint32_t group : {0u, 3u}) {
    const auto change = [&](GroupedSpec* s) {
      s->channels.push_back(s->channels[0]);
      s->channels.back().name = "more", s->channels.back().group = group;
    };
    EXPECT_EQ(ErrorWith(change),
              "env.x: channel 'more': expected group 1 to 2, because the agents form 2 groups, got " + std::to_string(group));
  }
  EXPECT_EQ(
      ErrorWith([](GroupedSpec* s) { s->channels[4].group = 1; }),
      "env.x: channel 'reward': expected group 0, because only OBS, ACTION, ACTION_MASK and FINAL_OBS in agent scope belong "
      "to a group, got 1");
  EXPECT_EQ(ErrorWith([](GroupedSpec* s) { s->groups.clear(); }),
            "env.x: channel 'pair/obs': expected group 0, because the spec has no groups, got 1");
}

TEST(CheckSpec, RejectsALearnerThatDoesNotKnowGroups) {
  const GroupedSpec grouped;
  const bp_env_spec said = grouped.Spec();
  const CheckedEnvSpec env = CheckSpec("env.x", &said, 0, 4);
  const bp_channel outputs[] = {grouped.channels[1], grouped.channels[3]};
  bp_learner_spec learner{sizeof(bp_learner_spec), 0, nullptr, nullptr, outputs, 2, 0, BP_LEARNER_GROUPS};
  EXPECT_EQ(CheckSpec("learner.x", &learner, "env.x", env).act_out.channels()[1].group, 2u);
  learner.flags = 0;
  try {
    CheckSpec("learner.x", &learner, "env.x", env);
    ADD_FAILURE() << "accepted";
  } catch (const TrialFailure& failure) {
    EXPECT_STREQ(failure.what(),
                 "learner.x: does not support groups of agents (BP_LEARNER_GROUPS), but env.x has 2 groups of agents: pair "
                 "(2), solo (1)");
  }
}

// As a plugin of version 1.0 declares them: without the fields that came later.
TEST(CheckSpec, ReadsTheStructsOfOlderPlugins) {
  constexpr size_t kOldChannel = 64, kOldSpec = 40;
  alignas(bp_channel) char channels[std::size(kChannels) * kOldChannel];
  for (size_t i = 0; i < std::size(kChannels); ++i) {
    bp_channel old = kChannels[i];
    old.struct_size = kOldChannel;
    std::memcpy(channels + i * kOldChannel, &old, kOldChannel);
  }
  bp_env_spec spec{kOldSpec, 1, reinterpret_cast<const bp_channel*>(channels), std::size(kChannels)};
  spec.groups = reinterpret_cast<const bp_group*>(8), spec.n_groups = 77;  // beyond its size, so unread
  const CheckedEnvSpec read = CheckSpec("env.x", &spec, 0, 1);
  EXPECT_EQ(read.view.n_groups, 0u);
  ASSERT_EQ(read.table.channels().size(), std::size(kChannels));
  EXPECT_STREQ(read.table.channels()[3].name, "terminated");
  EXPECT_EQ(read.table.channels()[3].group, 0u);
}

}  // namespace
}  // namespace backplane
