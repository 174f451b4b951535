// The options that PPO and MAPPO both have, with their words.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/options.hpp"
#include "nn/layers.hpp"

namespace backplane::on_policy {

// The course of a value over the budget.
enum class Schedule { kConstant, kLinear };
constexpr auto WordsOf(Schedule) {
  return bp::Words<Schedule>({{"constant", Schedule::kConstant}, {"linear", Schedule::kLinear}});
}
inline double Scheduled(Schedule schedule, double value, double progress) {
  return schedule == Schedule::kLinear ? value * (1 - progress) : value;
}

// Implementation of updates: built-in kernels or LibTorch's autograd.
enum class UpdatePath { kAuto, kFused, kTorch };
constexpr auto WordsOf(UpdatePath) {
  return bp::Words<UpdatePath>({{"auto", UpdatePath::kAuto}, {"fused", UpdatePath::kFused}, {"torch", UpdatePath::kTorch}});
}

// The device of LibTorch's updates.
enum class Device { kAuto, kCpu, kCuda };
constexpr auto WordsOf(Device) {
  return bp::Words<Device>({{"auto", Device::kAuto}, {"cpu", Device::kCpu}, {"cuda", Device::kCuda}});
}

// Mixed precision of updates; `true` is bf16.
enum class Amp { kOff, kOn, kBf16, kFp16 };
constexpr auto WordsOf(Amp) {
  return bp::Words<Amp>({{"false", Amp::kOff}, {"true", Amp::kOn}, {"bf16", Amp::kBf16}, {"fp16", Amp::kFp16}});
}

// Where and how LibTorch computes updates.
struct TorchOptions {
  std::vector<bp_device> devices = {{BP_DEVICE_CPU, 0}};
  std::optional<bp_device> critic_device;  // absent: the device of the shard
  int64_t shards = 1;                      // at most, per minibatch
  Amp amp = Amp::kOff;
};

struct Options {
  int64_t train_batch_size = 2048, minibatch_size = 256, num_epochs = 10, update_shards = 2;
  double lr = 3e-4, gamma = 0.99, lambda = 0.95, clip = 0.2, vf_clip_param = 0, entropy_coeff = 0, vf_coeff = 0.5;
  double grad_clip = 0.5, kl_target = 0;
  Schedule entropy_schedule = Schedule::kConstant;
  bool vf_clip = true, ortho_init = true, bootstrap_truncated = true;
  std::vector<int64_t> hidden = {64, 64}, vf_hidden;
  nn::Activation activation = nn::Activation::kTanh;
  UpdatePath update_path = UpdatePath::kAuto;
};

// Options that each learner's own extend; minibatch_size has a different range in each.
inline constexpr bp::OptionTable kOptions{
    bp::Opt("train_batch_size", &Options::train_batch_size, "[1,)",
            "Env steps per iteration over all rows; the horizon is rounded up",
            {.unit = "steps", .helps = "ram_near_limit-,out_of_memory-,vram_near_limit-,sync_overhead+,gpu_idle+"}),
    bp::Opt("num_epochs", &Options::num_epochs, "[1,)", "Passes over each iteration's samples; the update's time grows with it",
            {.aliases = "n_epochs,num_sgd_iter,update_epochs,ppo_epoch", .helps = "update_bound-,gpu_saturated-"}),
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam; with lr_schedule, its first value",
            {.aliases = "learning_rate", .helps = "unstable_learning-"}),
    bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step"),
    bp::Opt("lambda", &Options::lambda, "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
    bp::Opt("clip_param", &Options::clip, "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
    bp::Opt("entropy_coeff", &Options::entropy_coeff, "[0,)", "Weight of the entropy bonus",
            {.aliases = "ent_coef,entropy_coef"}),
    bp::Opt("entropy_schedule", &Options::entropy_schedule, "linear: the weight falls to 0 over the budget",
            {.reads_budget = "linear"}),
    bp::Opt("vf_loss_coeff", &Options::vf_coeff, "[0,)", "Weight of the value loss", {.aliases = "vf_coef,value_loss_coef"}),
    bp::Opt("vf_clip", &Options::vf_clip, "Clips the change of the value in its loss",
            {.aliases = "clip_vloss,use_clipped_value_loss"}),
    bp::Opt("vf_clip_param", &Options::vf_clip_param, "[0,)",
            "Range of vf_clip, in units of the critic's output; 0: clip_param", {.aliases = "clip_range_vf"}),
    bp::Opt("grad_clip", &Options::grad_clip, "[0,)", "Largest gradient norm; 0: no limit", {.aliases = "max_grad_norm"}),
    bp::Opt("kl_target", &Options::kl_target, "[0,)", "An update ends early above 1.5 times this KL; 0: off",
            {.aliases = "target_kl"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the actor's hidden layers", {.aliases = "fcnet_hiddens"}),
    bp::Opt("vf_hidden", &Options::vf_hidden, "[1,)", "Sizes of the critic's hidden layers; empty: the same as hidden"),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("ortho_init", &Options::ortho_init, "Orthogonal initial weights; false: uniform"),
    bp::Opt("update_path", &Options::update_path,
            "fused: our kernels on the CPU; torch: LibTorch's autograd, slower there; auto: fused unless another option needs "
            "LibTorch"),
    bp::Opt("update_shards", &Options::update_shards, "[1,1024]",
            "Parts of a minibatch with separate gradients, summed in order; at most this many cores share an update"),
    bp::Opt("bootstrap_truncated", &Options::bootstrap_truncated,
            "Adds the value of the last observation where an episode was truncated; false: as if it had terminated, which "
            "biases values but needs no last observation",
            {.flags = BP_PARAM_LATER}),
};

// A vector env that starts a row's next episode by itself may lose the last observation; it then has this channel.
inline void CheckBootstrap(const bp_env_spec& env, const Options& options) {
  const bp_channel* lost = bp::FindChannel(env, "no_final_obs");
  if (lost == nullptr || lost->role != BP_ROLE_INFO || !options.bootstrap_truncated) return;
  throw bp::ConfigError(
      "bootstrap_truncated: expected false, because the env has no last observations of truncated episodes, got true; false "
      "treats them as terminated");
}

}  // namespace backplane::on_policy
