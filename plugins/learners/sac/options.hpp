// SAC's options.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backplane/off_policy.hpp"
#include "net.hpp"
#include "replay/sampler.hpp"
#include "rl/env_shape.hpp"
#include "temperature.hpp"
#include "trainer.hpp"

namespace backplane::sac {

struct Options {
  // Throws bp::ConfigError for contradictions; sets values that follow from other options.
  void Check(const bp::Config& config);

  uint64_t buffer_size = 1'000'000, train_freq = 1, learning_starts = 100, horizon = 1000;
  int64_t batch_size = 256, gradient_steps = 1, target_update_interval = 1, n_step = 1;
  double lr = 3e-4, gamma = 0.99, tau = 0.005, initial_alpha = 1, grad_clip = 0;
  std::optional<double> critic_lr, alpha_lr, target_entropy;
  std::optional<double> ent_coef;  // absent: alpha is learned
  std::vector<int64_t> hidden = {256, 256}, critic_hidden;
  Activation activation = Activation::kRelu;
  bool prioritized_replay = false;
  double priority_alpha = 0.6, priority_beta = 0.4, priority_eps = 1e-6;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam for the actor, and for the rest unless set",
            {.aliases = "learning_rate,actor_lr,policy_lr", .helps = "unstable_learning-"}),
    bp::Opt("critic_lr", &Options::critic_lr, "auto|(0,)", "Learning rate of the critics; auto: lr", {.aliases = "q_lr"}),
    bp::Opt("alpha_lr", &Options::alpha_lr, "auto|(0,)", "Learning rate of the temperature; auto: lr",
            {.aliases = "entropy_learning_rate"}),
    bp::Opt("buffer_size", &Options::buffer_size, "[1,)",
            "Newest transitions that are kept and sampled, in a file of the trial; more need more memory and disk",
            {.unit = "transitions", .aliases = "replay_buffer_capacity,capacity", .helps = "ram_near_limit-"}),
    bp::Opt("batch_size", &Options::batch_size, "[1,)", "Transitions per gradient step; the update's time grows with it",
            {.unit = "transitions", .aliases = "train_batch_size,train_batch_size_per_learner", .helps = "update_bound-"}),
    bp::Opt("train_freq", &Options::train_freq, "[1,)", "Steps per env between gradient steps",
            {.unit = "steps", .helps = "update_bound+"}),
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
            "Rewards summed before the critics' value; the sum ends with the episode. Above 1 learns faster from rare rewards, "
            "with "
            "a bias towards older policies",
            {.unit = "steps", .aliases = "n_steps"}),
    bp::Opt("tau", &Options::tau, "(0,1]", "Share of the critics in each update of the target networks",
            {.aliases = "polyak_coef"}),
    bp::Opt("target_update_interval", &Options::target_update_interval, "[1,)",
            "Gradient steps between updates of the target networks"),
    bp::Opt("ent_coef", &Options::ent_coef,
            "auto|auto_1.0|auto_0.5|auto_0.2|auto_0.1|auto_0.05|auto_0.02|auto_0.01|auto_0.001|[0,)",
            "Weight alpha of the entropy: auto learns it, auto_0.1 starts it at 0.1, and a number fixes it",
            {.aliases = "alpha,entropy_coeff"}),
    bp::Opt("initial_alpha", &Options::initial_alpha, "(0,)", "First value of a learned alpha"),
    bp::Opt("target_entropy", &Options::target_entropy, "auto|(,)",
            "Entropy that a learned alpha aims for, of actions in [-1, 1]; auto: minus their number", {.unit = "nat"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the actor's hidden layers", {.aliases = "net_arch,fcnet_hiddens"}),
    bp::Opt("critic_hidden", &Options::critic_hidden, "[1,)", "Sizes of each critic's hidden layers; empty: the same as hidden",
            {.aliases = "vf_hidden,qf_hidden"}),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("grad_clip", &Options::grad_clip, "[0,)",
            "Largest gradient norm of the actor, and of the critics together; 0: no limit", {.aliases = "max_grad_norm"}),
    bp::Opt("prioritized_replay", &Options::prioritized_replay,
            "Samples transitions in proportion to their critics' errors; false: uniformly"),
    bp::Opt("priority_alpha", &Options::priority_alpha, "[0,1]", "Exponent of priorities; 0: uniform",
            {.aliases = "prioritized_replay_alpha"}),
    bp::Opt("priority_beta", &Options::priority_beta, "[0,1]",
            "Exponent of the weights that correct for prioritized sampling; 1: fully", {.aliases = "prioritized_replay_beta"}),
    bp::Opt("priority_eps", &Options::priority_eps, "(0,)", "Added to the errors, so that no transition is left out",
            {.aliases = "prioritized_replay_eps"}),
};

Net MakeNet(const Options& options, const rl::EnvShape& shape);
TrainerOptions TrainerOptionsOf(const Options& options);
Temperature TemperatureOf(const Options& options, int64_t actions);
bp::OffPolicySchedule ScheduleOf(const Options& options);
replay::SamplerOptions SamplerOptionsOf(const Options& options);

}  // namespace backplane::sac
