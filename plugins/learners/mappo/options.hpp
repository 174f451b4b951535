// MAPPO's options, and what it needs to know of the env.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "rl/options.hpp"

namespace backplane::mappo {

using rl::Schedule, rl::UpdatePath;

enum class Normalize { kMinibatch, kIteration, kNone };
constexpr auto WordsOf(Normalize) {
  return bp::Words<Normalize>(
      {{"minibatch", Normalize::kMinibatch}, {"iteration", Normalize::kIteration}, {"none", Normalize::kNone}});
}
enum class Critic { kCentral, kIndependent };
constexpr auto WordsOf(Critic) {
  return bp::Words<Critic>({{"central", Critic::kCentral}, {"independent", Critic::kIndependent}});
}
enum class Device { kAuto, kCpu, kCuda };
constexpr auto WordsOf(Device) {
  return bp::Words<Device>({{"auto", Device::kAuto}, {"cpu", Device::kCpu}, {"cuda", Device::kCuda}});
}

struct Options {
  void Check(const bp::Config& config);  // throws bp::ConfigError for contradictions; vf_hidden is set after it
  // Steps of every row in a rollout. Throws bp::ConfigError where episodes are asked for and the env has no time limit.
  uint64_t Horizon(uint64_t rows, int64_t max_episode_steps) const;

  int64_t train_batch_size = 2048, episodes_per_batch = 0, minibatch_size = 0, num_minibatches = 4, num_epochs = 5;
  int64_t update_shards = 2;
  double lr = 5e-4, gamma = 0.99, lambda = 0.95, clip = 0.2, entropy_coeff = 0.01, vf_coeff = 0.5, grad_clip = 0.5;
  double vf_clip_param = 0, huber_delta = 0, reward_scale = 0.05, kl_target = 0;
  Schedule lr_schedule = Schedule::kConstant, entropy_schedule = Schedule::kConstant;
  bool separate_grad_clip = false, vf_clip = false, value_norm = false, ortho_init = true;
  std::vector<int64_t> hidden = {128, 128}, vf_hidden;
  Activation activation = Activation::kTanh;
  Normalize normalize_advantages = Normalize::kMinibatch;
  Critic critic = Critic::kCentral;
  UpdatePath update_path = UpdatePath::kAuto;
  Device device = Device::kAuto;
  std::optional<bool> use_amp;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("train_batch_size", &Options::train_batch_size, "[1,)",
            "Env steps per iteration over all rows; the horizon is rounded up",
            {.unit = "steps", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
    bp::Opt("episodes_per_batch", &Options::episodes_per_batch, "[0,1000000]",
            "Instead: an iteration is as long as so many episodes of the env's limit; 0: train_batch_size decides",
            {.unit = "episodes", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
    bp::Opt("minibatch_size", &Options::minibatch_size, "[0,)",
            "Most agents' samples per gradient step, of equal parts; 0: num_minibatches decides",
            {.unit = "samples", .aliases = "batch_size,sgd_minibatch_size", .helps = "update_bound+"}),
    bp::Opt("num_minibatches", &Options::num_minibatches, "[1,)", "Equal parts of an iteration's samples, each a gradient step",
            {.aliases = "num_mini_batch"}),
    bp::Opt("num_epochs", &Options::num_epochs, "[1,)", "Passes over each iteration's samples; the update's time grows with it",
            {.aliases = "update_epochs,n_epochs,ppo_epoch", .helps = "update_bound-"}),
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam, or its first value",
            {.aliases = "learning_rate", .helps = "unstable_learning-"}),
    bp::Opt("lr_schedule", &Options::lr_schedule, "linear falls to 0 over the budget"),
    bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step"),
    bp::Opt("lambda", &Options::lambda, "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
    bp::Opt("clip_param", &Options::clip, "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
    bp::Opt("entropy_coeff", &Options::entropy_coeff, "[0,)", "Weight of the entropy bonus",
            {.aliases = "ent_coef,entropy_coef"}),
    bp::Opt("entropy_schedule", &Options::entropy_schedule, "linear: the weight falls to 0 over the budget"),
    bp::Opt("vf_loss_coeff", &Options::vf_coeff, "[0,)", "Weight of the value loss", {.aliases = "vf_coef,value_loss_coef"}),
    bp::Opt("grad_clip", &Options::grad_clip, "[0,)", "Largest gradient norm; 0: no limit", {.aliases = "max_grad_norm"}),
    bp::Opt("separate_grad_clip", &Options::separate_grad_clip,
            "Clips the actor's and the critic's gradient apart; false: their joint norm"),
    bp::Opt("vf_clip", &Options::vf_clip, "Clips the change of the value in its loss",
            {.aliases = "clip_vloss,use_clipped_value_loss"}),
    bp::Opt("vf_clip_param", &Options::vf_clip_param, "[0,)",
            "Range of that clip, in units of the critic's output; 0 takes clip_param", {.aliases = "clip_range_vf"}),
    bp::Opt("huber_delta", &Options::huber_delta, "[0,)", "Value errors beyond it count linearly; 0: squared error"),
    bp::Opt("value_norm", &Options::value_norm, "The critic predicts returns of mean 0 and deviation 1 (ValueNorm)",
            {.aliases = "use_valuenorm"}),
    bp::Opt("reward_scale", &Options::reward_scale, "(0,)", "Rewards are multiplied by it for the learner alone"),
    bp::Opt("normalize_advantages", &Options::normalize_advantages,
            "Advantages get mean 0 and deviation 1 in each minibatch, or once per iteration"),
    bp::Opt("kl_target", &Options::kl_target, "[0,)", "An update ends early above 1.5 times this KL; 0: off",
            {.aliases = "target_kl"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the actor's hidden layers", {.aliases = "fcnet_hiddens"}),
    bp::Opt("vf_hidden", &Options::vf_hidden, "[1,)", "Sizes of the critic's hidden layers; empty: those of hidden"),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("critic", &Options::critic,
            "What the critic sees: an agent's observation and the state, or the observation alone (independent PPO)"),
    bp::Opt("ortho_init", &Options::ortho_init, "Orthogonal first weights; false: uniform"),
    bp::Opt("update_path", &Options::update_path,
            "fused: own kernels on the CPU; torch: LibTorch's autograd, slower there; auto: fused unless a device or AMP asks "
            "for LibTorch"),
    bp::Opt("update_shards", &Options::update_shards, "[1,1024]",
            "Parts of a minibatch with a gradient of their own, summed in order; as many cores as this can share an update"),
    bp::Opt("device", &Options::device, "Where LibTorch's update runs; auto: where the env keeps its channels"),
    bp::Opt("use_amp", &Options::use_amp,
            "Mixed precision (bf16; float32 master weights); auto: on a GPU where a short probe is faster, off on a CPU"),
    // Names of the field for what is the host's.
    bp::Unread("num_workers", 1, "[1,)", "Blocks of rows", {.aliases = "rollout.num_env_runners"}),
    bp::Unread("episodes_per_worker", 1, "[1,)", "Rows of a block, each with an episode at a time",
               {.aliases = "rollout.num_envs_per_env_runner"}),
    bp::Unread("checkpoint_interval", 0, "[0,)", "Iterations from one checkpoint to the next; 0: only at the end",
               {.aliases = "checkpoint.every_iterations"}),
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
