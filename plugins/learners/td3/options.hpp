// TD3's options.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net.hpp"
#include "off_policy/options.hpp"
#include "rl/env_shape.hpp"
#include "trainer.hpp"

namespace backplane::td3 {

struct Options : off_policy::Options {
  // Throws bp::ConfigError for contradictions; sets values that follow from other options.
  void Check(const bp::Config& config);

  int64_t policy_delay = 2;
  double lr = 1e-3, target_noise = 0.2, target_noise_clip = 0.5, action_noise = 0.1;
  std::optional<double> critic_lr;
  std::vector<int64_t> hidden = {400, 300}, critic_hidden;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam for the actor, and for the critics unless set",
            {.aliases = "learning_rate,actor_lr,policy_lr,pi_lr", .helps = "unstable_learning-"}),
    bp::Opt("critic_lr", &Options::critic_lr, "auto|(0,)", "Learning rate of the critics; auto: lr", {.aliases = "q_lr"}),
    off_policy::kOptions,
    bp::Opt("policy_delay", &Options::policy_delay, "[1,)",
            "Gradient steps of the critics per step of the actor and of all target networks",
            {.aliases = "policy_frequency,policy_freq", .helps = "update_bound+"}),
    bp::Opt("target_noise", &Options::target_noise, "[0,)",
            "Deviation of the noise in the target networks' actions, of actions in [-1, 1]; 0: none",
            {.aliases = "target_policy_noise,policy_noise"}),
    bp::Opt("target_noise_clip", &Options::target_noise_clip, "[0,)", "Largest absolute value of that noise",
            {.aliases = "noise_clip"}),
    bp::Opt("action_noise", &Options::action_noise, "[0,)",
            "Deviation of the Gaussian noise in acting, of actions in [-1, 1]; 0: none, so that only the first steps explore",
            {.aliases = "exploration_noise,act_noise"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the actor's hidden layers",
            {.aliases = "net_arch,fcnet_hiddens,actor_hiddens"}),
    bp::Opt("critic_hidden", &Options::critic_hidden, "[1,)", "Sizes of each critic's hidden layers; empty: the same as hidden",
            {.aliases = "vf_hidden,qf_hidden,critic_hiddens"}),
};

Net MakeNet(const Options& options, const rl::EnvShape& shape);
TrainerOptions TrainerOptionsOf(const Options& options);

}  // namespace backplane::td3
