// The grid's channels, the same for every env that plays it.
#pragma once

#include "backplane/env_spec.hpp"
#include "uav/rules.hpp"

namespace backplane::uav {

// In the order of GridSpec; from kFirstStatistic on those of kStatistics, then what an env adds.
enum ChannelIndex { kObs, kState, kAction, kMask, kAlive, kReward, kTerminated, kAgentEnded, kFirstStatistic };
inline constexpr const char* kStatistics[] = {"ep/success_rate",     "ep/crash_rate",    "ep/timeout_rate",
                                              "ep/all_arrived",      "ep/path_length",   "ep/conflicts_static",
                                              "ep/conflicts_vertex", "ep/conflicts_edge"};
inline constexpr int kNStatistics = sizeof kStatistics / sizeof *kStatistics;

// Flags, one byte for each element.
inline bp::Channel Flags(uint16_t role, const char* name, uint16_t scope, std::vector<int64_t> shape = {}) {
  return {
      .role = role, .name = name, .shape = std::move(shape), .dtype = bp::kU8, .space = BP_SPACE_MULTI_BINARY, .scope = scope};
}
// Numbers, float32.
inline bp::Channel Numbers(uint16_t role, const char* name, uint16_t scope, std::vector<int64_t> shape = {}) {
  return {.role = role, .name = name, .shape = std::move(shape), .scope = scope};
}

inline bp::EnvSpec GridSpec(const Options& o) {
  bp::EnvSpec spec;
  spec.Add(Numbers(BP_ROLE_OBS, "obs", BP_SCOPE_AGENT, {ObsSize(o)}))
      .Add(Numbers(BP_ROLE_STATE, "state", BP_SCOPE_ROW, {StateSize(o)}))
      .Add({.role = BP_ROLE_ACTION,
            .name = "action",
            .dtype = bp::kI32,
            .space = BP_SPACE_DISCRETE,
            .scope = BP_SCOPE_AGENT,
            .nvec = {kActions}})
      .Add(Flags(BP_ROLE_ACTION_MASK, "action_mask", BP_SCOPE_AGENT, {kActions}))
      .Add(Flags(BP_ROLE_ALIVE, "alive", BP_SCOPE_AGENT))
      .Add(Numbers(BP_ROLE_REWARD, "reward", BP_SCOPE_AGENT))
      .Terminated()
      .Add(Flags(BP_ROLE_INFO, "agent_ended", BP_SCOPE_AGENT));
  for (const char* name : kStatistics) spec.Info(name);
  return spec.MaxAgents(static_cast<uint32_t>(o.n_uavs)).MaxEpisodeSteps(o.max_steps);
}

}  // namespace backplane::uav
