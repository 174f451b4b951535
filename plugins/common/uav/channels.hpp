// The grid's channels, the same for every env that plays it.
#pragma once

#include <array>
#include <iterator>

#include "backplane/env_spec.hpp"
#include "uav/rules.hpp"

namespace backplane::uav {

inline constexpr const char* kStatistics[] = {"ep/success_rate",     "ep/crash_rate",    "ep/timeout_rate",
                                              "ep/all_arrived",      "ep/path_length",   "ep/conflicts_static",
                                              "ep/conflicts_vertex", "ep/conflicts_edge"};
inline constexpr int kNStatistics = std::size(kStatistics);

struct Channels {
  explicit Channels(const Options& o);

  bp::EnvSpec spec;  // in this order; an env may add to it
  bp::Handle<float> obs, state;
  bp::Handle<const int32_t> action;
  bp::Handle<uint8_t> mask, alive;
  bp::Handle<float> reward;
  bp::Handle<uint8_t> terminated, agent_ended;
  std::array<bp::Handle<float>, kNStatistics> statistics;  // of kStatistics
};

inline Channels::Channels(const Options& o) {
  spec.MaxAgents(static_cast<uint32_t>(o.n_uavs)).MaxEpisodeSteps(o.max_steps);
  spec.AgentObs(ObsSize(o)).State(StateSize(o)).AgentActionDiscrete(kActions).ActionMask().Alive().AgentReward().Terminated();
  obs = spec.Get<float>(BP_ROLE_OBS), state = spec.Get<float>(BP_ROLE_STATE);
  action = spec.Get<const int32_t>(BP_ROLE_ACTION);
  mask = spec.Get<uint8_t>(BP_ROLE_ACTION_MASK), alive = spec.Get<uint8_t>(BP_ROLE_ALIVE);
  reward = spec.Get<float>(BP_ROLE_REWARD), terminated = spec.Get<uint8_t>(BP_ROLE_TERMINATED);
  agent_ended =
      spec.Add<uint8_t>({.role = BP_ROLE_INFO, .name = "agent_ended", .space = BP_SPACE_MULTI_BINARY, .scope = BP_SCOPE_AGENT});
  for (int i = 0; i < kNStatistics; ++i) statistics[i] = spec.Add<float>({.role = BP_ROLE_INFO, .name = kStatistics[i]});
}

}  // namespace backplane::uav
