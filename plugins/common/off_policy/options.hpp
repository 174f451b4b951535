// The options that all learners with a replay buffer have.
#pragma once

#include <cstdint>

#include "backplane/off_policy.hpp"
#include "nn/layers.hpp"
#include "on_policy/options.hpp"
#include "replay/sampler.hpp"

namespace backplane::off_policy {

struct Options {
  // Throws bp::ConfigError for contradictions.
  void CheckReplay(const bp::Config& config) const;

  uint64_t buffer_size = 1'000'000, train_freq = 1, learning_starts = 100, horizon = 1000;
  int64_t batch_size = 256, gradient_steps = 1, n_step = 1;
  double gamma = 0.99, tau = 0.005, grad_clip = 0;
  nn::Activation activation = nn::Activation::kRelu;
  bool prioritized_replay = false;
  double priority_alpha = 0.6, priority_beta = 0.4, priority_eps = 1e-6;
  on_policy::UpdatePath update_path = on_policy::UpdatePath::kAuto;
  on_policy::Device device = on_policy::Device::kAuto;
  on_policy::Amp use_amp = on_policy::Amp::kOff;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("buffer_size", &Options::buffer_size, "[1,)",
            "Newest transitions that are kept and sampled, in a file of the trial; more need more memory and disk",
            {.unit = "transitions", .aliases = "replay_buffer_capacity,capacity", .helps = "ram_near_limit-"}),
    bp::Opt("batch_size", &Options::batch_size, "[1,)", "Transitions per gradient step; the update's time grows with it",
            {.unit = "transitions", .aliases = "train_batch_size,train_batch_size_per_learner", .helps = "update_bound-"}),
    bp::Opt("train_freq", &Options::train_freq, "[1,)", "Steps per env between gradient steps",
            {.unit = "steps", .aliases = "train_frequency", .helps = "update_bound+"}),
    bp::Opt("gradient_steps", &Options::gradient_steps, "[-1,)",
            "Gradient steps after each train_freq steps; -1: one for each env step made since the last ones",
            {.aliases = "updates_per_step", .helps = "update_bound-"}),
    bp::Opt("learning_starts", &Options::learning_starts, "[0,)",
            "Env steps before the first gradient step, with random actions unless the trial starts from a policy",
            {.unit = "steps", .aliases = "num_steps_sampled_before_learning_starts,start_steps,random_steps"}),
    bp::Opt("horizon", &Options::horizon, "[1,)",
            "Steps per env in one iteration (one line of metrics); rounded up to a multiple of train_freq", {.unit = "steps"}),
    bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step"),
    bp::Opt("n_step", &Options::n_step, "[1,1000]",
            "Rewards summed before the value of an observation; the sum ends with the episode. Above 1 learns faster from rare "
            "rewards, with a bias towards older policies",
            {.unit = "steps", .aliases = "n_steps"}),
    bp::Opt("tau", &Options::tau, "(0,1]", "Share of the trained networks in each update of the target networks",
            {.aliases = "polyak_coef"}),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("grad_clip", &Options::grad_clip, "[0,)",
            "Largest norm of a network's gradient, of two critics together; 0: no limit", {.aliases = "max_grad_norm"}),
    bp::Opt("prioritized_replay", &Options::prioritized_replay,
            "Samples transitions in proportion to the errors of their values; false: uniformly"),
    bp::Opt("priority_alpha", &Options::priority_alpha, "[0,1]", "Exponent of priorities; 0: uniform",
            {.aliases = "prioritized_replay_alpha"}),
    bp::Opt("priority_beta", &Options::priority_beta, "[0,1]",
            "Exponent of the weights that correct for prioritized sampling; 1: fully", {.aliases = "prioritized_replay_beta"}),
    bp::Opt("priority_eps", &Options::priority_eps, "(0,)", "Added to the errors, so that no transition is left out",
            {.aliases = "prioritized_replay_eps"}),
    bp::Opt(
        "update_path", &Options::update_path,
        "fused: our kernels on the CPU; torch: LibTorch's autograd, slower there; auto: fused unless a GPU computes updates",
        {.flags = BP_PARAM_LATER}),
    bp::Opt("device", &Options::device,
            "Device of updates; cuda needs a LibTorch built for it; auto: the GPU that resources.gpus grants, else the CPU",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("use_amp", &Options::use_amp,
            "Mixed precision of LibTorch's updates (float32 master weights); true: bf16; fp16 is rejected",
            {.flags = BP_PARAM_LATER, .helps = "gpu_idle,gpu_saturated"}),
};

bp::OffPolicySchedule ScheduleOf(const Options& options);
replay::SamplerOptions SamplerOptionsOf(const Options& options, bool follow);

}  // namespace backplane::off_policy
