// The table of options of augmented random search and the plugin's entry.
#include "learner.hpp"

namespace backplane::ars {

class Ars : public Learner, public bp::LearnerPlugin<Ars> {
 public:
  static constexpr bp::About kAbout{.id = "learner.ars",
                                    .version = "1.0.0",
                                    .summary = "Augmented random search, linear policies and small networks, no gradients",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  static constexpr bp_param kOptions[] = {
      bp::I64("num_dirs", "8", "[1,1000000]",
              "Directions of an iteration, each tried with both signs; more of them make a step surer and an iteration longer",
              {.aliases = "n_delta,n_directions,num_rollouts", .helps = "sync_overhead+"}),
      bp::I64("top_dirs", "0", "[0,1000000]", "Directions that count for the step, the best ones; 0: all (else the paper's -t)",
              {.aliases = "n_top,deltas_used,rollouts_used"}),
      bp::I64("dir_chunk", "0", "[0,1000000]",
              "Directions evaluated at a time; 0: all. Changes no result; fewer than half the rows leave rows idle"),
      bp::F64("step_size", "0.02", "(0,)",
              "Length of a step along each direction that counts; Adam's rate with optimizer: adam",
              {.aliases = "learning_rate,lr,sgd_stepsize", .helps = "unstable_learning-"}),
      bp::F64("noise_std", "0.03", "(0,)", "Deviation of a candidate's weights from the mean policy's",
              {.aliases = "delta_std,noise_stdev", .helps = "unstable_learning-"}),
      bp::I64("episodes_per_dir", "1", "[1,1000]", "Episodes of each candidate, whose returns are averaged",
              {.unit = "episodes", .aliases = "n_eval_episodes"}),
      bp::I64("episode_length", "0", "[0,)", "Most steps of a candidate's episode; 0: the env's own limit",
              {.unit = "steps", .aliases = "rollout_length"}),
      bp::F64("shift", "0", nullptr, "Taken off every step's reward in training: what the env pays for being alive"),
      bp::F64("alive_bonus_offset", "0", nullptr, "Instead of shift, as sb3-contrib has it: added, so of the opposite sign"),
      bp::Bool(
          "normalize_obs", "true",
          "Observations to mean 0 and deviation 1 over all states seen, fixed within an iteration (the paper's V2; false: V1)"),
      bp::I64List("hidden", "[]", "[1,)", "Sizes of the hidden layers; empty: a linear policy", {.aliases = "fcnet_hiddens"}),
      bp::Enum("activation", "tanh", "tanh|relu", "Function between layers", {.aliases = "fcnet_activation"}),
      bp::Enum("bias", "auto", "auto|true|false", "A learned offset in each layer; auto: with hidden layers"),
      bp::Bool("squash_output", "false", "Actions by tanh into their bounds; false: cut off at them"),
      bp::F64("init_std", "0", "[0,)",
              "Deviation of the last layer's first weights; hidden layers start with 1 / sqrt(inputs), offsets with 0"),
      bp::Enum("shaping", "returns", "returns|centred_ranks",
               "What directions are weighed by; ranks ignore how far returns differ"),
      bp::Enum("optimizer", "sgd", "sgd|adam", "How the weighed directions become a step"),
      bp::F64("weight_decay", "0", "[0,)", "Share of the weights taken off the weighed directions", {.aliases = "l2coeff"}),
      // A name of the field for what is the host's.
      bp::I64("num_envs", "1", "[1,)", "Rows of a block, each with a candidate's episode at a time",
              {.aliases = "rollout.num_envs_per_env_runner"}),
  };
  using Learner::Learner;
};

}  // namespace backplane::ars

using backplane::ars::Ars;
BP_PLUGINS(Ars);
