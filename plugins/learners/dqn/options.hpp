// DQN's options.
#pragma once

#include <cstdint>
#include <vector>

#include "net.hpp"
#include "off_policy/options.hpp"
#include "rl/env_shape.hpp"
#include "trainer.hpp"

namespace backplane::dqn {

struct Options : off_policy::Options {
  Options() { batch_size = 32, train_freq = 4, tau = 1, grad_clip = 10; }
  void Check(const bp::Config& config);  // throws bp::ConfigError for contradictions

  uint64_t target_update_interval = 10'000;
  double lr = 1e-4, epsilon_initial = 1, epsilon_final = 0.05, epsilon_steps = 10'000;
  std::vector<int64_t> hidden = {64, 64};
  bool double_q = false, dueling = false;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam", {.aliases = "learning_rate", .helps = "unstable_learning-"}),
    off_policy::kOptions,
    bp::Opt("target_update_interval", &Options::target_update_interval, "[1,)",
            "Env steps between updates of the target network, counted apart from gradient steps",
            {.unit = "steps", .aliases = "target_network_update_freq,target_network_frequency"}),
    bp::Opt("double_q", &Options::double_q,
            "The trained network selects the next choice and the target network values it; false: the target network does both",
            {.aliases = "double,double_dqn"}),
    bp::Opt("dueling", &Options::dueling,
            "Splits a value into the observation's value and the choices' advantages, two heads of one trunk",
            {.aliases = "dueling_dqn"}),
    bp::Opt("epsilon_initial", &Options::epsilon_initial, "[0,1]", "Probability of a random choice in the first step",
            {.aliases = "exploration_initial_eps,initial_epsilon,start_e"}),
    bp::Opt("epsilon_final", &Options::epsilon_final, "[0,1]", "Probability of a random choice after epsilon_steps",
            {.aliases = "exploration_final_eps,final_epsilon,end_e"}),
    bp::Opt("epsilon_steps", &Options::epsilon_steps, "[0,)",
            "Env steps over which epsilon falls; up to 1: a share of the budget, updated once per iteration",
            {.unit = "steps", .aliases = "exploration_fraction,epsilon_timesteps", .reads_budget = "(0,1]"}),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the hidden layers", {.aliases = "net_arch,fcnet_hiddens"}),
};

Net MakeNet(const Options& options, const rl::EnvShape& shape);
TrainerOptions TrainerOptionsOf(const Options& options);

}  // namespace backplane::dqn
