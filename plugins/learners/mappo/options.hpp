// MAPPO's options as read from the experiment file, and what it needs to know of the env.
#pragma once

#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"

namespace backplane::mappo {

enum class Normalize { kMinibatch, kIteration, kNone };
enum class UpdatePath { kAuto, kFused, kTorch };
enum class Device { kAuto, kCpu, kCuda };
enum class Amp { kAuto, kOn, kOff };

struct Options {
  explicit Options(const bp::Config& config);
  // Steps of every row in a rollout. Throws bp::ConfigError where episodes are asked for and the env has no time limit.
  uint64_t Horizon(uint64_t rows, int64_t max_episode_steps) const;

  static constexpr int64_t kDefaultTrainBatchSize = 2048;  // as plugin.cpp declares it
  int64_t train_batch_size, episodes_per_batch, minibatch_size, num_minibatches, num_epochs, update_shards;
  double lr, gamma, lambda, clip, entropy_coeff, vf_coeff, grad_clip, vf_clip_param, huber_delta, reward_scale, kl_target;
  bool lr_linear, entropy_linear, central_critic, separate_grad_clip, vf_clip, value_norm, ortho_init;
  std::vector<int64_t> hidden, vf_hidden;
  Activation activation;

  Normalize normalize_advantages;
  UpdatePath update_path;
  Device device;
  Amp use_amp;
};

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);                             // throws bp::Unsupported with a sentence
  std::string obs, action, mask, alive, state, agent_ended;              // names; empty: the env has no such channel
  int64_t obs_size, state_size = 0, actions, agents, max_episode_steps;  // agents: of a row
  bool reward_per_agent;
  bp_channel action_channel;  // borrowed, for the constructor only
};

// Throws bp::Unsupported where the critic wants a state and the env has none.
Net MakeNet(const Options& options, const EnvShape& shape);

}  // namespace backplane::mappo
