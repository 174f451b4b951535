// PPO's options as read from the experiment file, and what it needs to know of the env.
#pragma once

#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"

namespace backplane::ppo {

enum class Schedule { kConstant, kLinear, kKlAdaptive };
enum class UpdatePath { kAuto, kFused, kTorch };

struct Options {
  explicit Options(const bp::Config& config);
  int64_t train_batch_size, minibatch_size, num_epochs, update_shards, sde_sample_freq;
  double lr, gamma, lambda, clip, vf_clip_param, entropy_coeff, vf_coeff, grad_clip, kl_target, log_std_init;
  bool vf_clip, normalize_advantages, normalize_obs, normalize_rewards, ortho_init, share_layers, use_sde;
  Schedule lr_schedule;
  bool clip_linear, entropy_linear;
  std::vector<int64_t> hidden, vf_hidden;
  Activation activation;
  UpdatePath update_path;
};

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);     // throws bp::Unsupported with a sentence
  std::string obs_name, action_name, mask_name;  // mask_name empty: no mask
  int64_t obs, actions;
  bool discrete;
  bp_channel action;             // borrowed, for the constructor only
  std::vector<float> low, high;  // per element, infinite where there is no bound
};

Net MakeNet(const Options& options, const EnvShape& shape);

}  // namespace backplane::ppo
