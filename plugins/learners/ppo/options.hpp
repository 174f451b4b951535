// PPO's options.
#pragma once

#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "rl/env_shape.hpp"
#include "rl/options.hpp"

namespace backplane::ppo {

using rl::EnvShape, rl::UpdatePath;

enum class LrSchedule { kConstant, kLinear, kKlAdaptive };
constexpr auto WordsOf(LrSchedule) {
  return bp::Words<LrSchedule>(
      {{"constant", LrSchedule::kConstant}, {"linear", LrSchedule::kLinear}, {"kl_adaptive", LrSchedule::kKlAdaptive}});
}

struct Options {
  void Check(const bp::Config& config);  // throws bp::ConfigError for contradictions; vf_hidden is set after it

  int64_t train_batch_size = 2048, minibatch_size = 256, num_epochs = 10, sde_sample_freq = -1, update_shards = 2;
  double lr = 3e-4, gamma = 0.99, lambda = 0.95, clip = 0.2, vf_clip_param = 0, entropy_coeff = 0, vf_coeff = 0.5;
  double grad_clip = 0.5, kl_target = 0, log_std_init = 0;
  LrSchedule lr_schedule = LrSchedule::kConstant;
  rl::Schedule clip_schedule = rl::Schedule::kConstant, entropy_schedule = rl::Schedule::kConstant;
  bool vf_clip = true, normalize_advantages = true, normalize_obs = false, normalize_rewards = false;
  bool share_layers = false, ortho_init = true, use_sde = false;
  std::vector<int64_t> hidden = {64, 64}, vf_hidden;
  Activation activation = Activation::kTanh;
  UpdatePath update_path = UpdatePath::kAuto;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("train_batch_size", &Options::train_batch_size, "[1,)",
            "Samples per iteration over all rows; the horizon is rounded up",
            {.unit = "samples", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
    bp::Opt("minibatch_size", &Options::minibatch_size, "[1,)",
            "Most samples per gradient step, of equal parts; larger ones cost less time per sample",
            {.unit = "samples", .aliases = "batch_size,sgd_minibatch_size", .helps = "update_bound+"}),
    bp::Opt("num_epochs", &Options::num_epochs, "[1,)", "Passes over each iteration's samples; the update's time grows with it",
            {.aliases = "n_epochs,num_sgd_iter,update_epochs", .helps = "update_bound-"}),
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam, or its first value",
            {.aliases = "learning_rate", .helps = "unstable_learning-"}),
    bp::Opt("lr_schedule", &Options::lr_schedule,
            "linear falls to 0 over the budget; kl_adaptive steers the KL estimate towards kl_target, within 1e-6 and 1e-2"),
    bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step"),
    bp::Opt("lambda", &Options::lambda, "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
    bp::Opt("clip_param", &Options::clip, "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
    bp::Opt("clip_schedule", &Options::clip_schedule, "linear falls to 0 over the budget"),
    bp::Opt("vf_clip", &Options::vf_clip, "Clips the change of the value in its loss", {.aliases = "clip_vloss"}),
    bp::Opt("vf_clip_param", &Options::vf_clip_param, "[0,)", "Range of that clip, in units of value; 0 takes clip_param",
            {.aliases = "clip_range_vf"}),
    bp::Opt("entropy_coeff", &Options::entropy_coeff, "[0,)", "Weight of the entropy bonus", {.aliases = "ent_coef"}),
    bp::Opt("entropy_schedule", &Options::entropy_schedule, "linear: the weight falls to 0 over the budget"),
    bp::Opt("vf_loss_coeff", &Options::vf_coeff, "[0,)", "Weight of the value loss", {.aliases = "vf_coef"}),
    bp::Opt("grad_clip", &Options::grad_clip, "[0,)", "Largest global gradient norm; 0: no limit",
            {.aliases = "max_grad_norm"}),
    bp::Opt("kl_target", &Options::kl_target, "[0,)", "An update ends early above 1.5 times this KL, or lr follows it; 0: off",
            {.aliases = "target_kl"}),
    bp::Opt("normalize_advantages", &Options::normalize_advantages, "Each minibatch's advantages get mean 0 and deviation 1",
            {.aliases = "normalize_advantage,norm_adv"}),
    bp::Opt("normalize_obs", &Options::normalize_obs, "Running mean and deviation of the observations, clipped to 10"),
    bp::Opt("normalize_rewards", &Options::normalize_rewards,
            "Rewards over the deviation of the discounted return, clipped to 10", {.aliases = "normalize_reward"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the hidden layers", {.aliases = "fcnet_hiddens"}),
    bp::Opt("vf_hidden", &Options::vf_hidden, "[1,)", "Sizes of the critic's hidden layers; empty: those of hidden"),
    bp::Opt("share_layers", &Options::share_layers, "One trunk of hidden layers for actor and critic; halves the update's time",
            {.aliases = "vf_share_layers,actor_critic_share_weights"}),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("log_std_init", &Options::log_std_init, "First logarithm of the deviation of continuous actions"),
    bp::Opt("ortho_init", &Options::ortho_init, "Orthogonal first weights; false: uniform"),
    bp::Opt("use_sde", &Options::use_sde,
            "State-dependent exploration: noise is a random linear function of the last hidden layer"),
    bp::Opt("sde_sample_freq", &Options::sde_sample_freq, "[-1,)",
            "Steps for which such a function is kept; -1 or 0: a whole rollout", {.unit = "steps"}),
    bp::Opt("update_path", &Options::update_path,
            "fused: own kernels for multi-layer perceptrons; torch: LibTorch's autograd, slower; auto: fused where the net "
            "allows it"),
    bp::Opt("update_shards", &Options::update_shards, "[1,1024]",
            "Parts of a minibatch with a gradient of their own, summed in order; as many cores as this can share an update"),
};

Net MakeNet(const Options& options, const EnvShape& shape);

}  // namespace backplane::ppo
