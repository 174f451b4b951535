// PPO's table of options and the plugin's entry.
#include "learner.hpp"

namespace backplane::ppo {

class Ppo : public Learner, public bp::LearnerPlugin<Ppo> {
 public:
  static constexpr bp::About kAbout{.id = "learner.ppo",
                                    .version = "1.0.0",
                                    .summary = "Proximal policy optimisation, continuous and discrete actions",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  static constexpr bp_param kOptions[] = {
      bp::I64("train_batch_size", "2048", "[1,)", "Samples per iteration over all rows; the horizon is rounded up",
              {.unit = "samples", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
      bp::I64("minibatch_size", "256", "[1,)",
              "Most samples per gradient step, of equal parts; larger ones cost less time per sample",
              {.unit = "samples", .aliases = "batch_size,sgd_minibatch_size", .helps = "update_bound+"}),
      bp::I64("num_epochs", "10", "[1,)", "Passes over each iteration's samples; the update's time grows with it",
              {.aliases = "n_epochs,num_sgd_iter,update_epochs", .helps = "update_bound-"}),
      bp::F64("lr", "3.0e-4", "(0,)", "Learning rate of Adam, or its first value",
              {.aliases = "learning_rate", .helps = "unstable_learning-"}),
      bp::Enum("lr_schedule", "constant", "constant|linear|kl_adaptive",
               "linear falls to 0 over the budget; kl_adaptive steers the KL estimate towards kl_target, within 1e-6 and 1e-2"),
      bp::F64("gamma", "0.99", "[0,1]", "Discount per step"),
      bp::F64("lambda", "0.95", "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
      bp::F64("clip_param", "0.2", "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
      bp::Enum("clip_schedule", "constant", "constant|linear", "linear falls to 0 over the budget"),
      bp::Bool("vf_clip", "true", "Clips the change of the value in its loss", {.aliases = "clip_vloss"}),
      bp::F64("vf_clip_param", "0", "[0,)", "Range of that clip, in units of value; 0 takes clip_param",
              {.aliases = "clip_range_vf"}),
      bp::F64("entropy_coeff", "0", "[0,)", "Weight of the entropy bonus", {.aliases = "ent_coef"}),
      bp::Enum("entropy_schedule", "constant", "constant|linear", "linear: the weight falls to 0 over the budget"),
      bp::F64("vf_loss_coeff", "0.5", "[0,)", "Weight of the value loss", {.aliases = "vf_coef"}),
      bp::F64("grad_clip", "0.5", "[0,)", "Largest global gradient norm; 0: no limit", {.aliases = "max_grad_norm"}),
      bp::F64("kl_target", "0", "[0,)", "An update ends early above 1.5 times this KL, or lr follows it; 0: off",
              {.aliases = "target_kl"}),
      bp::Bool("normalize_advantages", "true", "Each minibatch's advantages get mean 0 and deviation 1",
               {.aliases = "normalize_advantage,norm_adv"}),
      bp::Bool("normalize_obs", "false", "Running mean and deviation of the observations, clipped to 10"),
      bp::Bool("normalize_rewards", "false", "Rewards over the deviation of the discounted return, clipped to 10",
               {.aliases = "normalize_reward"}),
      bp::I64List("hidden", "[64, 64]", "[1,)", "Sizes of the hidden layers", {.aliases = "fcnet_hiddens"}),
      bp::I64List("vf_hidden", "[]", "[1,)", "Sizes of the critic's hidden layers; empty: those of hidden"),
      bp::Bool("share_layers", "false", "One trunk of hidden layers for actor and critic; halves the update's time",
               {.aliases = "vf_share_layers,actor_critic_share_weights"}),
      bp::Enum("activation", "tanh", "tanh|relu", "Function between layers", {.aliases = "fcnet_activation"}),
      bp::F64("log_std_init", "0", nullptr, "First logarithm of the deviation of continuous actions"),
      bp::Bool("ortho_init", "true", "Orthogonal first weights; false: uniform"),
      bp::Bool("use_sde", "false", "State-dependent exploration: noise is a random linear function of the last hidden layer"),
      bp::I64("sde_sample_freq", "-1", "[-1,)", "Steps for which such a function is kept; -1 or 0: a whole rollout",
              {.unit = "steps"}),
      bp::Enum("update_path", "auto", "auto|fused|torch",
               "fused: own kernels for multi-layer perceptrons; torch: LibTorch's autograd, slower; auto: fused where the net "
               "allows it"),
      bp::I64("update_shards", "2", "[1,1024]",
              "Parts of a minibatch with a gradient of their own, summed in order; as many cores as this can share an update"),
  };
  using Learner::Learner;
};

}  // namespace backplane::ppo

using backplane::ppo::Ppo;
BP_PLUGINS(Ppo);
