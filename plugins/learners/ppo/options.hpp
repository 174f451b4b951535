// PPO's options as read from the experiment file.
#pragma once

#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "rl/env_shape.hpp"

namespace backplane::ppo {

using rl::EnvShape;

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

Net MakeNet(const Options& options, const EnvShape& shape);

}  // namespace backplane::ppo
