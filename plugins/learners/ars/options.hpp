// The options of augmented random search.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backplane/learner.hpp"
#include "policy.hpp"
#include "rl/env_shape.hpp"

namespace backplane::ars {

enum class Shaping { kReturns, kCentredRanks };
constexpr auto WordsOf(Shaping) {
  return bp::Words<Shaping>({{"returns", Shaping::kReturns}, {"centred_ranks", Shaping::kCentredRanks}});
}
enum class Optimizer { kSgd, kAdam };
constexpr auto WordsOf(Optimizer) { return bp::Words<Optimizer>({{"sgd", Optimizer::kSgd}, {"adam", Optimizer::kAdam}}); }

struct Options {
  // Throws bp::ConfigError for contradictions. Afterwards top_dirs and dir_chunk are between 1 and num_dirs, `bias` is set, and
  // `shift` includes alive_bonus_offset.
  void Check(const bp::Config& config);
  bool adam() const { return optimizer == Optimizer::kAdam; }

  int64_t num_dirs = 8, top_dirs = 0, dir_chunk = 0, episodes_per_dir = 1, episode_length = 0;
  double step_size = 0.02, noise_std = 0.03, shift = 0, alive_bonus_offset = 0, weight_decay = 0, init_std = 0;
  bool normalize_obs = true, squash = false;
  std::optional<bool> bias;
  Shaping shaping = Shaping::kReturns;
  Optimizer optimizer = Optimizer::kSgd;
  std::vector<int64_t> hidden;
  nn::Activation activation = nn::Activation::kTanh;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("num_dirs", &Options::num_dirs, "[1,1000000]",
            "Directions per iteration, each tried with both signs; more make a step more accurate and an iteration longer",
            {.aliases = "n_delta,n_directions,num_rollouts", .helps = "sync_overhead+"}),
    bp::Opt("top_dirs", &Options::top_dirs, "[0,1000000]",
            "Number of best directions that form the step; 0: all (else the paper's -t)",
            {.aliases = "n_top,deltas_used,rollouts_used"}),
    bp::Opt("dir_chunk", &Options::dir_chunk, "[0,1000000]",
            "Directions evaluated at a time; 0: all. Never changes results, but below half the number of rows, some rows idle",
            {.helps = "ram_near_limit-,out_of_memory-"}),
    bp::Opt("step_size", &Options::step_size, "(0,)", "Step length; with optimizer: adam, Adam's learning rate",
            {.aliases = "learning_rate,lr,sgd_stepsize", .helps = "unstable_learning-,spread_collapsed-"}),
    bp::Opt("noise_std", &Options::noise_std, "(0,)", "Standard deviation of a candidate's weights around the mean policy",
            {.aliases = "delta_std,noise_stdev", .helps = "unstable_learning-,spread_collapsed+"}),
    bp::Opt("episodes_per_dir", &Options::episodes_per_dir, "[1,1000000]",
            "Episodes per direction and sign; their returns are averaged",
            {.unit = "episodes", .aliases = "num_envs,n_eval_episodes", .helps = "ram_near_limit-,out_of_memory-"}),
    bp::Opt("episode_length", &Options::episode_length, "[0,)",
            "Maximum steps of a candidate's episode; 0: the env's own limit",
            {.unit = "steps", .aliases = "rollout_length", .helps = "unstable_learning-,spread_collapsed-"}),
    bp::Opt("shift", &Options::shift, "Subtracted from every step's reward in training, for example the env's alive bonus"),
    bp::Opt("alive_bonus_offset", &Options::alive_bonus_offset, "shift with the opposite sign, as in sb3-contrib"),
    bp::Opt("normalize_obs", &Options::normalize_obs,
            "Scales observations to mean 0 and deviation 1 over all states seen, fixed within an iteration (the paper's V2; "
            "false: V1)"),
    bp::Opt("hidden", &Options::hidden, "[1,)", "Sizes of the hidden layers; empty: a linear policy",
            {.aliases = "fcnet_hiddens"}),
    bp::Opt("activation", &Options::activation, "Function between layers", {.aliases = "fcnet_activation"}),
    bp::Opt("bias", &Options::bias, "Learned offset in each layer; auto: with hidden layers"),
    bp::Opt("squash_output", &Options::squash, "Maps actions into their bounds by tanh; false: clips them"),
    bp::Opt(
        "init_std", &Options::init_std, "[0,)",
        "Standard deviation of the last layer's initial weights; hidden layers start with 1 / sqrt(inputs), offsets with 0"),
    bp::Opt("shaping", &Options::shaping, "Weights of the directions; ranks ignore the size of differences in return"),
    bp::Opt("optimizer", &Options::optimizer, "Optimizer that turns the weighted directions into a step"),
    bp::Opt("weight_decay", &Options::weight_decay, "[0,)",
            "Subtracts this multiple of the weights from the weighted directions", {.aliases = "l2coeff"}),
};

Policy MakePolicy(const Options& options, const rl::EnvShape& shape);  // throws bp::Unsupported with a sentence

}  // namespace backplane::ars
