// The grid's channels, shared by all envs of it.
#pragma once

#include <array>
#include <iterator>

#include "backplane/env_slot.hpp"
#include "uav/rules.hpp"

namespace backplane::uav {

inline constexpr const char* kStatistics[] = {"ep/success_rate",     "ep/crash_rate",    "ep/timeout_rate",
                                              "ep/all_arrived",      "ep/path_length",   "ep/conflicts_static",
                                              "ep/conflicts_vertex", "ep/conflicts_edge"};
inline constexpr int kNStatistics = std::size(kStatistics);

struct Channels {
  explicit Channels(const Options& o);

  bp::EnvSpec spec;  // in this order; an env may add more
  bp::Handle<float> obs, state;
  bp::Handle<int8_t> patch, map;  // for PatchDtype::kInt8; `map` only if STATE has a map
  bool has_map;
  bp::Handle<const int32_t> action;
  bp::Handle<uint8_t> mask, alive;
  bp::Handle<float> reward;
  bp::Handle<uint8_t> terminated, agent_ended;
  std::array<bp::Handle<float>, kNStatistics> statistics;  // of kStatistics
};

// A byte channel that extends OBS or STATE.
inline bp::Channel BytesOf(uint16_t role, const char* name, int64_t size, uint16_t scope) {
  return {.role = role, .name = name, .shape = {size}, .scope = scope, .low = {-1}, .high = {1}};
}

inline Channels::Channels(const Options& o) : has_map(o.bytes() && MapSize(o) > 0) {
  spec.MaxAgents(static_cast<uint32_t>(o.n_uavs)).MaxEpisodeSteps(o.max_steps);
  spec.AgentObs(ObsSize(o)).State(StateSize(o)).AgentActionDiscrete(kActions).ActionMask().Alive().AgentReward().Terminated();
  obs = spec.Get<float>(BP_ROLE_OBS), state = spec.Get<float>(BP_ROLE_STATE);
  action = spec.Get<const int32_t>(BP_ROLE_ACTION);
  mask = spec.Get<uint8_t>(BP_ROLE_ACTION_MASK), alive = spec.Get<uint8_t>(BP_ROLE_ALIVE);
  reward = spec.Get<float>(BP_ROLE_REWARD), terminated = spec.Get<uint8_t>(BP_ROLE_TERMINATED);
  agent_ended =
      spec.Add<uint8_t>({.role = BP_ROLE_INFO, .name = "agent_ended", .space = BP_SPACE_MULTI_BINARY, .scope = BP_SCOPE_AGENT});
  if (o.bytes()) patch = spec.Add<int8_t>(BytesOf(BP_ROLE_OBS, "patch", PatchesSize(o), BP_SCOPE_AGENT));
  if (has_map) map = spec.Add<int8_t>(BytesOf(BP_ROLE_STATE, "map", MapSize(o), BP_SCOPE_ROW));
  for (int i = 0; i < kNStatistics; ++i) statistics[i] = spec.Add<float>({.role = BP_ROLE_INFO, .name = kStatistics[i]});
}

}  // namespace backplane::uav
