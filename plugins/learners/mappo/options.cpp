#include "options.hpp"

#include "rl/env_shape.hpp"

namespace backplane::mappo {

void Options::Check(const bp::Config& c) {
  if (hidden.empty()) throw bp::ConfigError("hidden: expected one layer or more, got none");
  if (vf_hidden.empty()) vf_hidden = hidden;
  // A saved configuration spells the default out.
  if (episodes_per_batch > 0 && c.IsSet("train_batch_size") && train_batch_size != Options().train_batch_size) {
    throw bp::ConfigError("expected episodes_per_batch or train_batch_size as the length of a rollout, got both");
  }
  if (!devices.empty() && devices.size() != 2)
    throw bp::ConfigError("devices: expected two numbers, of the actor's and of the critic's device, got " +
                          std::to_string(devices.size()));
  if (device == Device::kCuda && update_path == UpdatePath::kFused)
    throw bp::ConfigError("device: expected update_path: torch or auto, got fused");
  memory = ReadMemory(memory_option, *this, device, c);
  if (memory.size == 0) return;
  device = Device::kCpu;
  if (minibatch_size > 0 && minibatch_size < memory.sequence)
    throw bp::ConfigError("minibatch_size: expected memory.sequence (" + std::to_string(memory.sequence) +
                          ") or more, because minibatches contain whole sequences, got " + std::to_string(minibatch_size) +
                          " (" + c.Where("minibatch_size") + ")");
}

uint64_t Options::Horizon(uint64_t rows, int64_t max_episode_steps) const {
  uint64_t steps = static_cast<uint64_t>(train_batch_size);
  if (episodes_per_batch > 0) {
    if (max_episode_steps == 0) {
      throw bp::ConfigError(
          "episodes_per_batch: expected an env with a step limit per episode, got one without; set train_batch_size instead");
    }
    steps = static_cast<uint64_t>(episodes_per_batch * max_episode_steps);
  }
  return (steps + rows - 1) / rows;
}

namespace {

using bp::NeedChannel;

void NeedPerAgent(const bp_channel& channel) {
  if (channel.scope == BP_SCOPE_AGENT) return;
  throw bp::Unsupported(std::string("expected several agents per row, got channel '") + channel.name +
                        "', which is per row; learner.ppo supports one agent per row");
}

void NeedDtype(const bp_channel& channel, bp_dtype dtype, int64_t elements, const char* wanted) {
  if (bp::SameDtype(channel.dtype, dtype) && bp::ElementCount(channel) == elements) return;
  throw bp::Unsupported(std::string("expected ") + wanted + " in channel '" + channel.name + "', got " +
                        std::to_string(bp::ElementCount(channel)) + " of " + std::to_string(channel.dtype.bits) + " bits");
}

Seen SeenIn(const bp_env_spec& env, const bp_channel& channel, const char* wanted) {
  const int64_t size = bp::ElementCount(channel);
  Numbers numbers = Numbers::kFloat;
  if (bp::SameDtype(channel.dtype, bp::DtypeOf<int8_t>()))
    numbers = Numbers::kInt8;
  else if (bp::SameDtype(channel.dtype, bp::DtypeOf<uint8_t>()))
    numbers = Numbers::kUint8;
  else
    NeedDtype(channel, bp::DtypeOf<float>(), size, wanted);
  return {channel.name, bp::FinalName(env, channel), size, numbers};
}

// The channels of a role that belong to a group's agents; 0: to all agents.
std::vector<const bp_channel*> OfGroup(const bp_env_spec& env, uint16_t role, uint32_t number) {
  std::vector<const bp_channel*> own;
  for (const bp_channel* channel : bp::FindChannels(env, role)) {
    NeedPerAgent(*channel);
    if (bp::GroupOf(*channel) == number) own.push_back(channel);
  }
  return own;
}

void NeedOnlyMask(const std::string& before, const bp_channel& mask) {
  if (before.empty()) return;
  throw bp::Unsupported("needs one ACTION_MASK channel for the same agents, the env has '" + before + "' and '" + mask.name +
                        "'");
}

// The name of a flag per agent in INFO; empty: the env has none.
std::string FlagIn(const bp_env_spec& env, const char* name) {
  const bp_channel* const found = bp::FindChannel(env, name);
  if (found == nullptr || found->role != BP_ROLE_INFO) return "";
  NeedPerAgent(*found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), 1, "one flag per agent");
  return name;
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env, uint32_t at)
    : agents(env->max_agents), max_episode_steps(env->max_episode_steps), row_agents(env->max_agents), number(at) {
  if (number > 0) {
    const bp::AgentGroup own = bp::GroupsOf(*env)[number - 1];
    agents = own.agents, first = own.first, group = own.name;
  }
  const bp_channel& reward = NeedChannel(*env, BP_ROLE_REWARD);
  for (const bp_channel* channel : OfGroup(*env, BP_ROLE_ACTION, number)) Add(*channel);
  if (actions.empty()) throw bp::Unsupported("needs an ACTION channel, the env has none");
  for (const bp_channel* channel : OfGroup(*env, BP_ROLE_OBS, number)) {
    obs.push_back(SeenIn(*env, *channel, "float32, int8 or uint8 observations"));
    obs_size += obs.back().size;
  }
  reward_per_agent = reward.scope == BP_SCOPE_AGENT;
  for (const bp_channel* found : OfGroup(*env, BP_ROLE_ACTION_MASK, number)) {
    if (distributions.flags == 0) break;
    NeedOnlyMask(mask, *found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), distributions.flags, "one flag per choice");
    mask = found->name;
  }
  if (const bp_channel* found = bp::FindOnlyChannel(*env, BP_ROLE_ALIVE)) {
    NeedPerAgent(*found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), 1, "one flag per agent");
    alive = found->name;
  }
  for (const bp_channel* channel : bp::FindChannels(*env, BP_ROLE_STATE)) {
    if (channel->scope != BP_SCOPE_ROW) throw bp::Unsupported("expected one STATE for all agents of a row, got one per agent");
    state.push_back(SeenIn(*env, *channel, "a float32, int8 or uint8 state"));
    state_size += state.back().size;
  }
  agent_ended = FlagIn(*env, "agent_ended"), agent_truncated = FlagIn(*env, "agent_truncated");
}

std::vector<EnvShape> ShapesOf(const bp_env_spec* env) {
  std::vector<EnvShape> shapes;
  const auto n = static_cast<uint32_t>(bp::GroupsOf(*env).size());
  for (uint32_t number = 1; number <= n; ++number) shapes.emplace_back(env, number);
  if (n == 0) shapes.emplace_back(env);
  return shapes;
}

std::vector<Net> NetsOf(const Options& options, const std::vector<EnvShape>& shapes) {
  std::vector<Net> nets;
  for (const EnvShape& shape : shapes) nets.push_back(MakeNet(options, shape));
  return nets;
}

Net MakeNet(const Options& o, const EnvShape& shape) {
  if (o.critic == Critic::kCentral && shape.state.empty()) {
    throw bp::Unsupported("critic: central: expected an env with a STATE channel, got one without; set critic: independent");
  }
  return Net({.obs = shape.obs_size,
              .state = o.critic == Critic::kCentral ? shape.state_size : 0,
              .actions = shape.distributions.outputs,
              .hidden = o.hidden,
              .vf_hidden = o.vf_hidden,
              .activation = o.activation,
              .memory = o.memory.size,
              .distributions = shape.distributions});
}

}  // namespace backplane::mappo
