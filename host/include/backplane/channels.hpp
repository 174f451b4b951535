// An env's declaration of its channels, for learners and the host. Part of env.hpp and learner.hpp, which authors include.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backplane/env.h"
#include "backplane/errors.hpp"

namespace bp {

template <class T>
constexpr bp_dtype DtypeOf() {
  constexpr uint8_t code = std::is_floating_point_v<T> ? BP_DTYPE_FLOAT : std::is_signed_v<T> ? BP_DTYPE_INT : BP_DTYPE_UINT;
  return {code, sizeof(T) * 8, 1};
}
constexpr bool SameDtype(bp_dtype a, bp_dtype b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }
// "float32"
inline std::string DtypeText(bp_dtype dtype) {
  const char* const code = dtype.code == BP_DTYPE_FLOAT ? "float" : dtype.code == BP_DTYPE_UINT ? "uint" : "int";
  return code + std::to_string(dtype.bits);
}

// "ACTION_MASK"
inline const char* RoleText(uint16_t role) {
  static constexpr const char* kTexts[] = {
      "?",     "OBS",    "STATE", "ACTION",    "ACTION_MASK", "REWARD", "TERMINATED", "TRUNCATED", "FINAL_OBS", "FINAL_STATE",
      "ALIVE", "LENGTH", "LABEL", "LOSS_MASK", "WEIGHT",      "INFO",   "?",          "?",         "EXTRA",     "CARRY"};
  return role < sizeof kTexts / sizeof *kTexts ? kTexts[role] : kTexts[0];
}

inline int64_t ElementCount(const bp_channel& channel) {
  int64_t n = 1;
  for (int i = 0; i < channel.ndim; ++i) n *= channel.shape[i];
  return n;
}

// Calls function(const bp_channel&) for each channel of a spec, in order.
template <class Function>
void ForEachChannel(const bp_env_spec& env, Function&& function) {
  for (uint64_t i = 0; i < env.n_channels; ++i) {
    // The stride is the writer's struct_size, which may be larger than ours.
    const auto* at = reinterpret_cast<const char*>(env.channels) + i * env.channels->struct_size;
    function(*reinterpret_cast<const bp_channel*>(at));
  }
}

// A group of agents in an env's spec.
struct AgentGroup {
  std::string name;
  uint32_t first = 0, agents = 0;  // first: its index among the row's agents
};

// Calls function(const bp_group&) for each group of a spec, in order.
template <class Function>
void ForEachGroup(const bp_env_spec& env, Function&& function) {
  if (!BP_HAS(&env, n_groups)) return;  // a host older than 1.2
  for (uint64_t i = 0; i < env.n_groups; ++i) {
    const auto* at = reinterpret_cast<const char*>(env.groups) + i * env.groups->struct_size;
    function(*reinterpret_cast<const bp_group*>(at));
  }
}
// The groups of a spec; none: all agents have the same channels.
inline std::vector<AgentGroup> GroupsOf(const bp_env_spec& env) {
  std::vector<AgentGroup> groups;
  uint32_t first = 0;
  ForEachGroup(env, [&](const bp_group& group) {
    groups.push_back({group.name, first, group.agents});
    first += group.agents;
  });
  return groups;
}
// The number of a channel's group; 0: it has all agents of the row, or is per row.
inline uint32_t GroupOf(const bp_channel& channel) {
  return channel.scope == BP_SCOPE_AGENT && BP_HAS(&channel, group) ? channel.group : 0;
}
// Entries of a row in a channel: 1, all its agents, or the agents of a group.
inline uint64_t AgentsIn(const bp_env_spec& env, const bp_channel& channel) {
  if (channel.scope != BP_SCOPE_AGENT) return 1;
  const uint32_t wanted = GroupOf(channel);
  uint64_t agents = env.max_agents;
  uint32_t number = 0;
  ForEachGroup(env, [&](const bp_group& group) {
    if (++number == wanted) agents = group.agents;
  });
  return agents;
}

// The first channel with a role (BP_ROLE_*), or the channel with a name; NULL: none.
inline const bp_channel* FindChannel(const bp_env_spec& env, uint16_t role) {
  const bp_channel* found = nullptr;
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (!found && channel.role == role) found = &channel;
  });
  return found;
}
inline const bp_channel* FindChannel(const bp_env_spec& env, std::string_view name) {
  const bp_channel* found = nullptr;
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (!found && name == channel.name) found = &channel;
  });
  return found;
}

// The name of the last observations of episodes for a channel of OBS or STATE: final_obs and final_state for the first of its
// role, "final_" and their own name for others.
inline std::string FinalName(const bp_env_spec& env, const bp_channel& channel) {
  const bp_channel* const first = FindChannel(env, channel.role);
  if (first != nullptr && std::string_view(first->name) != channel.name) return std::string("final_") + channel.name;
  return channel.role == BP_ROLE_OBS ? "final_obs" : "final_state";
}
// The channels of a role, in their order.
inline std::vector<const bp_channel*> FindChannels(const bp_env_spec& env, uint16_t role) {
  std::vector<const bp_channel*> found;
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (channel.role == role) found.push_back(&channel);
  });
  return found;
}

// The same for readers that support at most one channel of a role: several are an error.
inline const bp_channel* FindOnlyChannel(const bp_env_spec& env, uint16_t role) {
  const bp_channel* const found = FindChannel(env, role);
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (channel.role == role && &channel != found)
      throw Unsupported(std::string("needs one ") + RoleText(role) + " channel, the env has '" + found->name + "' and '" +
                        channel.name + "'");
  });
  return found;
}
// The same, but a missing channel is an error.
inline const bp_channel& NeedChannel(const bp_env_spec& env, uint16_t role) {
  const bp_channel* const found = FindOnlyChannel(env, role);
  if (!found) throw Unsupported(std::string("needs one ") + RoleText(role) + " channel, the env has none");
  return *found;
}

}  // namespace bp
