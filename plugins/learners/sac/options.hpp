// SAC's options.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net.hpp"
#include "off_policy/options.hpp"
#include "rl/env_shape.hpp"
#include "temperature.hpp"
#include "trainer.hpp"

namespace backplane::sac {

struct Options : off_policy::Options {
  // Throws bp::ConfigError for contradictions; sets values that follow from other options.
  void Check(const bp::Config& config);

  int64_t target_update_interval = 1;
  double lr = 3e-4, initial_alpha = 1;
  std::optional<double> critic_lr, alpha_lr, target_entropy;
  std::optional<double> ent_coef;  // absent: alpha is learned
  std::vector<int64_t> hidden = {256, 256}, critic_hidden;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam for the actor, and for the rest unless set",
            {.aliases = "learning_rate,actor_lr,policy_lr", .helps = "unstable_learning-"}),
    bp::Opt("critic_lr", &Options::critic_lr, "auto|(0,)", "Learning rate of the critics; auto: lr", {.aliases = "q_lr"}),
    bp::Opt("alpha_lr", &Options::alpha_lr, "auto|(0,)", "Learning rate of the temperature; auto: lr",
            {.aliases = "entropy_learning_rate"}),
    off_policy::kOptions,
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
};

Net MakeNet(const Options& options, const rl::EnvShape& shape);
TrainerOptions TrainerOptionsOf(const Options& options);
Temperature TemperatureOf(const Options& options, int64_t actions);

}  // namespace backplane::sac
