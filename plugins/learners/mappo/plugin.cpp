// MAPPO's table of options and the plugin's entry.
#include "learner.hpp"

namespace backplane::mappo {

class Mappo : public Learner, public bp::LearnerPlugin<Mappo> {
 public:
  static constexpr bp::About kAbout{.id = "learner.mappo",
                                    .version = "1.0.0",
                                    .summary = "Multi-agent PPO: one actor for all agents, a critic that sees the state",
                                    .flags = BP_FLAG_ROWS_CONCURRENT};
  static constexpr bool kServesDevices = true;
  static constexpr bp_param kOptions[] = {
      bp::I64("train_batch_size", "2048", "[1,)", "Env steps per iteration over all rows; the horizon is rounded up",
              {.unit = "steps", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
      bp::I64("episodes_per_batch", "0", "[0,1000000]",
              "Instead: an iteration is as long as so many episodes of the env's limit; 0: train_batch_size decides",
              {.unit = "episodes", .helps = "ram_near_limit-,out_of_memory-,sync_overhead+"}),
      bp::I64("minibatch_size", "0", "[0,)",
              "Most agents' samples per gradient step, of equal parts; 0: num_minibatches decides",
              {.unit = "samples", .aliases = "batch_size,sgd_minibatch_size", .helps = "update_bound+"}),
      bp::I64("num_minibatches", "4", "[1,)", "Equal parts of an iteration's samples, each a gradient step",
              {.aliases = "num_mini_batch"}),
      bp::I64("num_epochs", "5", "[1,)", "Passes over each iteration's samples; the update's time grows with it",
              {.aliases = "update_epochs,n_epochs,ppo_epoch", .helps = "update_bound-"}),
      bp::F64("lr", "5.0e-4", "(0,)", "Learning rate of Adam, or its first value",
              {.aliases = "learning_rate", .helps = "unstable_learning-"}),
      bp::Enum("lr_schedule", "constant", "constant|linear", "linear falls to 0 over the budget"),
      bp::F64("gamma", "0.99", "[0,1]", "Discount per step"),
      bp::F64("lambda", "0.95", "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
      bp::F64("clip_param", "0.2", "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
      bp::F64("entropy_coeff", "0.01", "[0,)", "Weight of the entropy bonus", {.aliases = "ent_coef,entropy_coef"}),
      bp::Enum("entropy_schedule", "constant", "constant|linear", "linear: the weight falls to 0 over the budget"),
      bp::F64("vf_loss_coeff", "0.5", "[0,)", "Weight of the value loss", {.aliases = "vf_coef,value_loss_coef"}),
      bp::F64("grad_clip", "0.5", "[0,)", "Largest gradient norm; 0: no limit", {.aliases = "max_grad_norm"}),
      bp::Bool("separate_grad_clip", "false", "Clips the actor's and the critic's gradient apart; false: their joint norm"),
      bp::Bool("vf_clip", "false", "Clips the change of the value in its loss",
               {.aliases = "clip_vloss,use_clipped_value_loss"}),
      bp::F64("vf_clip_param", "0", "[0,)", "Range of that clip, in units of the critic's output; 0 takes clip_param",
              {.aliases = "clip_range_vf"}),
      bp::F64("huber_delta", "0", "[0,)", "Value errors beyond it count linearly; 0: squared error"),
      bp::Bool("value_norm", "false", "The critic predicts returns of mean 0 and deviation 1 (ValueNorm)",
               {.aliases = "use_valuenorm"}),
      bp::F64("reward_scale", "0.05", "(0,)", "Rewards are multiplied by it for the learner alone"),
      bp::Enum("normalize_advantages", "minibatch", "minibatch|iteration|none",
               "Advantages get mean 0 and deviation 1 in each minibatch, or once per iteration"),
      bp::F64("kl_target", "0", "[0,)", "An update ends early above 1.5 times this KL; 0: off", {.aliases = "target_kl"}),
      bp::I64List("hidden", "[128, 128]", "[1,)", "Sizes of the actor's hidden layers", {.aliases = "fcnet_hiddens"}),
      bp::I64List("vf_hidden", "[]", "[1,)", "Sizes of the critic's hidden layers; empty: those of hidden"),
      bp::Enum("activation", "tanh", "tanh|relu", "Function between layers", {.aliases = "fcnet_activation"}),
      bp::Enum("critic", "central", "central|independent",
               "What the critic sees: an agent's observation and the state, or the observation alone (independent PPO)"),
      bp::Bool("ortho_init", "true", "Orthogonal first weights; false: uniform"),
      bp::Enum(
          "update_path", "auto", "auto|fused|torch",
          "fused: own kernels on the CPU; torch: LibTorch's autograd, slower there; auto: fused unless a device or AMP asks "
          "for LibTorch"),
      bp::I64("update_shards", "2", "[1,1024]",
              "Parts of a minibatch with a gradient of their own, summed in order; as many cores as this can share an update"),
      bp::Enum("device", "auto", "auto|cpu|cuda", "Where LibTorch's update runs; auto: where the env keeps its channels"),
      bp::Enum("use_amp", "auto", "auto|true|false",
               "Mixed precision (bf16; float32 master weights); auto: on a GPU where a short probe is faster, off on a CPU"),
      // Names of the field for what is the host's.
      bp::I64("num_workers", "1", "[1,)", "Blocks of rows", {.aliases = "rollout.num_env_runners"}),
      bp::I64("episodes_per_worker", "1", "[1,)", "Rows of a block, each with an episode at a time",
              {.aliases = "rollout.num_envs_per_env_runner"}),
      bp::I64("checkpoint_interval", "0", "[0,)", "Iterations from one checkpoint to the next; 0: only at the end",
              {.aliases = "checkpoint.every_iterations"}),
  };
  using Learner::Learner;
};

}  // namespace backplane::mappo

using backplane::mappo::Mappo;
BP_PLUGINS(Mappo);
