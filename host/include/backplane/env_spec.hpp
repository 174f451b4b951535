// The declaration of an env (EnvSpec). Part of env.hpp, which authors include.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/env.h"
#include "backplane/plugin.hpp"

namespace bp {

inline constexpr bp_dtype kF32 = DtypeOf<float>(), kF64 = DtypeOf<double>();
inline constexpr bp_dtype kI32 = DtypeOf<int32_t>(), kU8 = DtypeOf<uint8_t>();

// One channel; see channel.h for the meaning of the fields. `shape` is without the row dimension; empty: one number per row.
struct Channel {
  uint16_t role = 0;
  std::string name;
  std::vector<int64_t> shape = {};
  bp_dtype dtype = kF32;
  uint16_t space = BP_SPACE_BOX, scope = BP_SCOPE_ROW;
  std::vector<double> low = {}, high = {};  // empty, one for all elements, or one per element
  std::vector<int64_t> nvec = {};
  bool is_listed = false;  // INFO from EnvSpec::Info, which a single row writes by its index in `info`
  uint32_t group = 0;      // of AGENT scope: the number of its group, 0 for all agents
};

inline bool IsStateRole(uint16_t role) {
  return role == BP_ROLE_OBS || role == BP_ROLE_STATE || role == BP_ROLE_ACTION_MASK || role == BP_ROLE_ALIVE ||
         role == BP_ROLE_LENGTH;
}

namespace detail {

inline uint64_t Fnv(std::string_view text, uint64_t hash = 0xcbf29ce484222325u) {
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

inline std::string Text(const int64_t* values, int64_t n) {
  std::string out = "[";
  for (int64_t i = 0; i < n; ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

// Hash of all properties that determine the use of a channel's handle; never 0.
inline uint64_t HandleKey(const Channel& c) {
  const std::string shape = Text(c.shape.data(), static_cast<int64_t>(c.shape.size()));
  const std::string group = c.group > 0 ? "of group " + std::to_string(c.group) : "";
  const std::string layout = std::to_string(c.role) + DtypeText(c.dtype) + std::to_string(c.scope) + shape + group;
  return Fnv(c.name, Fnv(layout)) | 1;
}

}  // namespace detail

// A channel of an EnvSpec; a Slot returns its numbers as a span of T, `const` for ACTION, the only input. A wrong type does not
// compile; a slot of a different spec or an empty handle throws an Error.
template <class T>
class Handle {
 public:
  Handle() = default;

 private:
  friend class EnvSpec;
  friend class Slot;
  Handle(size_t index, uint64_t key) : index_(index), key_(key) {}
  size_t index_ = 0;
  uint64_t key_ = 0;
};

// The channels of an env in the order of the calls, its time limit, its number of agents and its device.
class EnvSpec {
 public:
  // OBS float32 [n], unbounded.
  EnvSpec& Obs(int64_t n) { return Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {n}}); }
  // OBS float32 [low.size()] with one bound per element.
  EnvSpec& Obs(std::vector<double> low, std::vector<double> high) {
    const auto n = static_cast<int64_t>(low.size());
    return Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {n}, .low = std::move(low), .high = std::move(high)});
  }
  // ACTION float32 [n] in [low, high].
  EnvSpec& ActionBox(int64_t n, double low, double high) {
    return Add({.role = BP_ROLE_ACTION, .name = "action", .shape = {n}, .low = {low}, .high = {high}});
  }
  // ACTION int32, one of 0 .. n-1.
  EnvSpec& ActionDiscrete(int64_t n) {
    return Add({.role = BP_ROLE_ACTION, .name = "action", .dtype = kI32, .space = BP_SPACE_DISCRETE, .nvec = {n}});
  }
  EnvSpec& Reward() { return Add({.role = BP_ROLE_REWARD, .name = "reward"}); }
  // REWARD of a step in [low, high]. With a limit of steps it bounds the return, and figures end at that bound.
  EnvSpec& Reward(double low, double high) {
    return Add({.role = BP_ROLE_REWARD, .name = "reward", .low = {low}, .high = {high}});
  }
  EnvSpec& Terminated() { return Add({.role = BP_ROLE_TERMINATED, .name = "terminated", .dtype = kU8}); }
  // INFO float32, one number per row. A number named "ep/..." counts with its value at the end of an episode.
  EnvSpec& Info(const std::string& name) { return Add({.role = BP_ROLE_INFO, .name = name, .is_listed = true}); }

  // For rows with several agents: their number, and the observation, action and reward of each.
  EnvSpec& MaxAgents(uint32_t agents) {
    max_agents = agents;
    return *this;
  }
  // Agents with channels of their own: the AgentObs, AgentAction... and ActionMask that follow belong to this group and are
  // named NAME/obs and so on. Adds to MaxAgents. Rewards and ALIVE have all agents, group by group. Needs a host of version 1.2
  // (BP_PLUGINS_SINCE).
  EnvSpec& Group(const std::string& name, uint32_t agents) {
    max_agents = groups.empty() ? agents : max_agents + agents;
    groups.push_back({name, max_agents - agents, agents});
    return *this;
  }
  // The same groups as another env.
  EnvSpec& Groups(std::vector<AgentGroup> agent_groups) {
    groups = std::move(agent_groups);
    return *this;
  }
  EnvSpec& AgentObs(int64_t n) { return Obs(n).OfAgents(); }
  EnvSpec& AgentObs(std::vector<double> low, std::vector<double> high) {
    return Obs(std::move(low), std::move(high)).OfAgents();
  }
  EnvSpec& AgentActionBox(int64_t n, double low, double high) { return ActionBox(n, low, high).OfAgents(); }
  EnvSpec& AgentActionDiscrete(int64_t n) { return ActionDiscrete(n).OfAgents(); }
  EnvSpec& AgentReward() { return Reward().OfAgents(); }
  // ALIVE: 1, and 0 once the agent has left the episode.
  EnvSpec& Alive() {
    return Add({.role = BP_ROLE_ALIVE, .name = "alive", .dtype = kU8, .space = BP_SPACE_MULTI_BINARY}).OfAgents();
  }
  // ACTION_MASK, one flag per choice of the DISCRETE action before it: 1 allowed.
  EnvSpec& ActionMask() {
    const auto is_action = [](const Channel& c) { return c.role == BP_ROLE_ACTION; };
    const auto action = std::find_if(channels.rbegin(), channels.rend(), is_action);
    if (action == channels.rend() || action->space != BP_SPACE_DISCRETE)
      throw Error(BP_E_INTERNAL, "ActionMask() should stand after the DISCRETE action whose choices it masks");
    const uint16_t action_scope = action->scope;
    Channel mask{.role = BP_ROLE_ACTION_MASK,
                 .name = "action_mask",
                 .shape = {action->nvec[0]},
                 .dtype = kU8,
                 .space = BP_SPACE_MULTI_BINARY};
    Add(std::move(mask));
    return action_scope == BP_SCOPE_AGENT ? OfAgents() : *this;
  }
  // STATE float32 [n] of the row: the input of a central critic.
  EnvSpec& State(int64_t n) { return Add({.role = BP_ROLE_STATE, .name = "state", .shape = {n}}); }

  EnvSpec& Add(Channel channel) {
    channels.push_back(std::move(channel));
    return *this;
  }
  // Adds a channel of numbers of type T, which determines its dtype, and returns its handle.
  template <class T>
  Handle<T> Add(Channel channel) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<std::remove_const_t<T>, bool>,
                  "a channel is of float, double or integers of 8 to 64 bits; flags are uint8_t");
    channel.dtype = DtypeOf<std::remove_const_t<T>>();
    CheckInput(channel, std::is_const_v<T>);
    Add(std::move(channel));
    return {channels.size() - 1, detail::HandleKey(channels.back())};
  }
  // The handle to a channel that was added without one: the first with a role, or the one with a name. Throws an Error if there
  // is none or if its numbers have a different type.
  template <class T>
  Handle<T> Get(uint16_t role) const {
    return HandleTo<T>(Find(role), std::string("of role ") + RoleText(role));
  }
  template <class T>
  Handle<T> Get(std::string_view name) const {
    return HandleTo<T>(Find(name), "'" + std::string(name) + "'");
  }
  // Like FindChannel: NULL if there is none.
  const Channel* Find(uint16_t role) const {
    return First([&](const Channel& c) { return c.role == role; });
  }
  const Channel* Find(std::string_view name) const {
    return First([&](const Channel& c) { return c.name == name; });
  }

  EnvSpec& MaxEpisodeSteps(int64_t steps) {  // 0: no limit
    max_episode_steps = steps;
    return *this;
  }
  // The device of all channels' buffers; for devices other than the CPU see ext/memory.h.
  EnvSpec& Device(bp_device where) {
    device = where;
    return *this;
  }

  // Entries of a row in a channel.
  uint64_t AgentsIn(const Channel& channel) const {
    if (channel.scope != BP_SCOPE_AGENT) return 1;
    return channel.group > 0 && channel.group <= groups.size() ? groups[channel.group - 1].agents : max_agents;
  }

  std::vector<Channel> channels;
  std::vector<AgentGroup> groups;
  int64_t max_episode_steps = 0;
  uint32_t max_agents = 1;
  bp_device device = {BP_DEVICE_CPU, 0};

 private:
  EnvSpec& OfAgents() {
    Channel& channel = channels.back();
    channel.scope = BP_SCOPE_AGENT;
    const bool own = channel.role == BP_ROLE_OBS || channel.role == BP_ROLE_ACTION || channel.role == BP_ROLE_ACTION_MASK;
    if (!own || groups.empty()) return *this;
    channel.group = static_cast<uint32_t>(groups.size());
    channel.name = groups.back().name + "/" + channel.name;
    return *this;
  }
  template <class Is>
  const Channel* First(Is&& is) const {
    const auto found = std::find_if(channels.begin(), channels.end(), is);
    return found == channels.end() ? nullptr : &*found;
  }
  static void CheckInput(const Channel& channel, bool is_const) {
    if ((channel.role == BP_ROLE_ACTION) == is_const) return;
    throw Error(BP_E_INTERNAL, "channel '" + channel.name +
                                   (is_const ? "': an env writes it, so its numbers should not be const"
                                             : "': an env only reads its ACTION, so its numbers should be const"));
  }
  template <class T>
  Handle<T> HandleTo(const Channel* channel, const std::string& which) const {
    if (!channel) throw Error(BP_E_INTERNAL, "the spec has no channel " + which);
    constexpr bp_dtype wanted = DtypeOf<std::remove_const_t<T>>();
    if (!SameDtype(channel->dtype, wanted))
      throw Error(BP_E_INTERNAL, "channel '" + channel->name + "' has numbers of type " + DtypeText(channel->dtype) +
                                     ", but its handle is of " + DtypeText(wanted));
    CheckInput(*channel, std::is_const_v<T>);
    return {static_cast<size_t>(channel - channels.data()), detail::HandleKey(*channel)};
  }
};

// An EnvSpec as the C table for the host. It cannot be moved, because the table points into it.
class SpecTable {
 public:
  explicit SpecTable(EnvSpec from) : spec(std::move(from)) {
    for (const Channel& c : spec.channels) {
      bp_channel out{};
      out.struct_size = sizeof out;
      out.role = c.role, out.space = c.space, out.scope = c.scope, out.dtype = c.dtype;
      out.ndim = static_cast<uint16_t>(c.shape.size());
      out.name = c.name.c_str();
      out.shape = c.shape.empty() ? nullptr : c.shape.data();
      out.low = c.low.empty() ? nullptr : c.low.data();
      out.high = c.high.empty() ? nullptr : c.high.data();
      out.nvec = c.nvec.empty() ? nullptr : c.nvec.data();
      out.n_bounds = c.low.size();
      out.group = c.group;
      table_.push_back(out);
    }
    for (const AgentGroup& group : spec.groups) groups_.push_back({sizeof(bp_group), group.agents, group.name.c_str()});
    view = {sizeof view, spec.max_agents, table_.data(), table_.size(), spec.max_episode_steps,
            spec.device, groups_.data(),  groups_.size()};
  }
  SpecTable(const SpecTable&) = delete;
  SpecTable& operator=(const SpecTable&) = delete;

  const EnvSpec spec;
  bp_env_spec view{};

 private:
  std::vector<bp_channel> table_;
  std::vector<bp_group> groups_;
};

}  // namespace bp
