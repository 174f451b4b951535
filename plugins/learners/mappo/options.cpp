#include "options.hpp"

namespace backplane::mappo {
namespace {

std::vector<int64_t> Sizes(const bp::Config& c, const char* path) {
  std::vector<int64_t> sizes;
  for (double size : c.List(path)) sizes.push_back(static_cast<int64_t>(size));
  return sizes;
}

}  // namespace

Options::Options(const bp::Config& c)
    : train_batch_size(c.I64("train_batch_size")),
      episodes_per_batch(c.I64("episodes_per_batch")),
      minibatch_size(c.I64("minibatch_size")),
      num_minibatches(c.I64("num_minibatches")),
      num_epochs(c.I64("num_epochs")),
      update_shards(c.I64("update_shards")),
      lr(c.F64("lr")),
      gamma(c.F64("gamma")),
      lambda(c.F64("lambda")),
      clip(c.F64("clip_param")),
      entropy_coeff(c.F64("entropy_coeff")),
      vf_coeff(c.F64("vf_loss_coeff")),
      grad_clip(c.F64("grad_clip")),
      vf_clip_param(c.F64("vf_clip_param")),
      huber_delta(c.F64("huber_delta")),
      reward_scale(c.F64("reward_scale")),
      kl_target(c.F64("kl_target")),
      lr_linear(c.Str("lr_schedule") == "linear"),
      entropy_linear(c.Str("entropy_schedule") == "linear"),
      central_critic(c.Str("critic") == "central"),
      separate_grad_clip(c.Bool("separate_grad_clip")),
      vf_clip(c.Bool("vf_clip")),
      value_norm(c.Bool("value_norm")),
      ortho_init(c.Bool("ortho_init")),
      hidden(Sizes(c, "hidden")),
      vf_hidden(Sizes(c, "vf_hidden")),
      activation(c.Str("activation") == "relu" ? Activation::kRelu : Activation::kTanh) {
  const std::string normalize = c.Str("normalize_advantages"), path = c.Str("update_path"), on = c.Str("device"),
                    amp = c.Str("use_amp");
  normalize_advantages = normalize == "none"        ? Normalize::kNone
                         : normalize == "iteration" ? Normalize::kIteration
                                                    : Normalize::kMinibatch;
  update_path = path == "fused" ? UpdatePath::kFused : path == "torch" ? UpdatePath::kTorch : UpdatePath::kAuto;
  device = on == "cuda" ? Device::kCuda : on == "cpu" ? Device::kCpu : Device::kAuto;
  use_amp = amp == "true" ? Amp::kOn : amp == "false" ? Amp::kOff : Amp::kAuto;
  if (hidden.empty()) throw bp::ConfigError("hidden should have one layer or more, got none");
  if (vf_hidden.empty()) vf_hidden = hidden;
  // A saved configuration spells the default out.
  if (episodes_per_batch > 0 && c.Where("train_batch_size") != "default" && train_batch_size != kDefaultTrainBatchSize) {
    throw bp::ConfigError("episodes_per_batch and train_batch_size both set the length of a rollout; keep one of them");
  }
  const auto needs_torch = [&](bool wanted, const char* option) {
    if (!wanted || update_path != UpdatePath::kFused) return;
    throw bp::ConfigError(std::string(option) + " needs LibTorch's update, but update_path is fused");
  };
  needs_torch(use_amp == Amp::kOn, "use_amp");
  needs_torch(device == Device::kCuda, "device");
}

uint64_t Options::Horizon(uint64_t rows, int64_t max_episode_steps) const {
  uint64_t steps = static_cast<uint64_t>(train_batch_size);
  if (episodes_per_batch > 0) {
    if (max_episode_steps == 0) {
      throw bp::ConfigError(
          "episodes_per_batch needs an env with a limit of steps per episode, this one has none; set train_batch_size instead");
    }
    steps = static_cast<uint64_t>(episodes_per_batch * max_episode_steps);
  }
  return (steps + rows - 1) / rows;
}

namespace {

const bp_channel& Need(const bp_env_spec* env, uint16_t role, const char* name) {
  const bp_channel* channel = bp::FindChannel(env, role, name);
  if (!channel) throw bp::Unsupported(std::string("needs one ") + name + " channel, the env has none");
  return *channel;
}

void NeedPerAgent(const bp_channel& channel) {
  if (channel.scope == BP_SCOPE_AGENT) return;
  throw bp::Unsupported(std::string("takes several agents per row, but channel '") + channel.name +
                        "' is per row; learner.ppo takes one agent per row");
}

void NeedDtype(const bp_channel& channel, bp_dtype dtype, int64_t elements, const char* wanted) {
  if (bp::SameDtype(channel.dtype, dtype) && bp::ElementCount(channel) == elements) return;
  throw bp::Unsupported(std::string("needs ") + wanted + " in channel '" + channel.name + "', got " +
                        std::to_string(bp::ElementCount(channel)) + " of " + std::to_string(channel.dtype.bits) + " bits");
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env)
    : agents(env->max_agents), max_episode_steps(env->max_episode_steps), action_channel(Need(env, BP_ROLE_ACTION, "ACTION")) {
  const bp_channel &observed = Need(env, BP_ROLE_OBS, "OBS"), &reward = Need(env, BP_ROLE_REWARD, "REWARD");
  NeedPerAgent(observed), NeedPerAgent(action_channel);
  obs = observed.name, obs_size = bp::ElementCount(observed), action = action_channel.name;
  NeedDtype(observed, bp::DtypeOf<float>(), obs_size, "float32 observations");
  if (action_channel.space != BP_SPACE_DISCRETE) throw bp::Unsupported("takes DISCRETE actions, '" + action + "' is not");
  NeedDtype(action_channel, bp::DtypeOf<int32_t>(), 1, "one int32 per agent");
  actions = action_channel.nvec[0];
  reward_per_agent = reward.scope == BP_SCOPE_AGENT;
  if (const bp_channel* found = bp::FindChannel(env, BP_ROLE_ACTION_MASK, "ACTION_MASK")) {
    NeedPerAgent(*found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), actions, "one flag per choice");
    mask = found->name;
  }
  if (const bp_channel* found = bp::FindChannel(env, BP_ROLE_ALIVE, "ALIVE")) {
    NeedPerAgent(*found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), 1, "one flag per agent");
    alive = found->name;
  }
  if (const bp_channel* found = bp::FindChannel(env, BP_ROLE_STATE, "STATE")) {
    state_size = bp::ElementCount(*found);
    if (found->scope != BP_SCOPE_ROW) throw bp::Unsupported("takes one STATE for all agents of a row, the env's is per agent");
    NeedDtype(*found, bp::DtypeOf<float>(), state_size, "a float32 state");
    state = found->name;
  }
  if (const bp_channel* found = bp::FindInfo(env, "agent_ended")) {
    NeedPerAgent(*found), NeedDtype(*found, bp::DtypeOf<uint8_t>(), 1, "one flag per agent");
    agent_ended = found->name;
  }
}

Net MakeNet(const Options& o, const EnvShape& shape) {
  if (o.central_critic && shape.state.empty()) {
    throw bp::Unsupported("critic: central reads a STATE channel and the env has none; set the option critic: independent");
  }
  return Net({.obs = shape.obs_size,
              .state = o.central_critic ? shape.state_size : 0,
              .actions = shape.actions,
              .hidden = o.hidden,
              .vf_hidden = o.vf_hidden,
              .activation = o.activation});
}

}  // namespace backplane::mappo
