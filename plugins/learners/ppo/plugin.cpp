// PPO's options, the envs it accepts, and the plugin's entry.
#include <cmath>

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
              {.unit = "samples", .helps = "update_bound-"}),
      bp::I64("minibatch_size", "256", "[1,)", "Samples per gradient step; larger ones cost less time per sample",
              {.unit = "samples", .aliases = "batch_size,sgd_minibatch_size", .helps = "update_bound-"}),
      bp::I64("num_epochs", "10", "[1,)", "Passes over each iteration's samples; the update's time grows with it",
              {.aliases = "n_epochs,num_sgd_iter,update_epochs", .helps = "update_bound-"}),
      bp::F64("lr", "3.0e-4", "(0,)", "Learning rate of Adam, or its first value", {.aliases = "learning_rate"}),
      bp::Enum("lr_schedule", "constant", "constant|linear|kl_adaptive",
               "linear falls to 0 over the budget; kl_adaptive steers the KL estimate towards kl_target"),
      bp::F64("gamma", "0.99", "[0,1]", "Discount per step"),
      bp::F64("lambda", "0.95", "[0,1]", "Decay of advantage estimation", {.aliases = "gae_lambda"}),
      bp::F64("clip_param", "0.2", "(0,)", "Clip range of the probability ratio", {.aliases = "clip_range,clip_coef"}),
      bp::Enum("clip_schedule", "constant", "constant|linear", "linear falls to 0 over the budget"),
      bp::Bool("vf_clip", "true", "Clips the change of the value in its loss", {.aliases = "clip_vloss"}),
      bp::F64("vf_clip_param", "0", "[0,)", "Range of that clip, in units of value; 0 takes clip_param", {.aliases = "clip_range_vf"}),
      bp::F64("entropy_coeff", "0", "[0,)", "Weight of the entropy bonus", {.aliases = "ent_coef"}),
      bp::F64("vf_loss_coeff", "0.5", "[0,)", "Weight of the value loss", {.aliases = "vf_coef"}),
      bp::F64("grad_clip", "0.5", "[0,)", "Largest global gradient norm; 0: no limit", {.aliases = "max_grad_norm"}),
      bp::F64("kl_target", "0", "[0,)", "An update ends early above 1.5 times this KL, or lr follows it; 0: off", {.aliases = "target_kl"}),
      bp::Bool("normalize_advantages", "true", "Each minibatch's advantages get mean 0 and deviation 1",
               {.aliases = "normalize_advantage,norm_adv"}),
      bp::Bool("normalize_obs", "false", "Running mean and deviation of the observations, clipped to 10"),
      bp::Bool("normalize_rewards", "false", "Rewards over the deviation of the discounted return, clipped to 10",
               {.aliases = "normalize_reward"}),
      bp::I64List("hidden", "[64, 64]", "[1,)", "Sizes of the hidden layers, of actor and critic alike", {.aliases = "fcnet_hiddens"}),
      bp::Enum("activation", "tanh", "tanh|relu", "Function between layers", {.aliases = "fcnet_activation"}),
      bp::F64("log_std_init", "0", nullptr, "First logarithm of the deviation of continuous actions"),
      bp::Bool("ortho_init", "true", "Orthogonal first weights; false: uniform"),
  };
  using Learner::Learner;
};

Options::Options(const bp::Config& c)
    : train_batch_size(c.I64("train_batch_size")), minibatch_size(c.I64("minibatch_size")), num_epochs(c.I64("num_epochs")),
      lr(c.F64("lr")), gamma(c.F64("gamma")), lambda(c.F64("lambda")), clip(c.F64("clip_param")),
      vf_clip_param(c.F64("vf_clip_param")), entropy_coeff(c.F64("entropy_coeff")), vf_coeff(c.F64("vf_loss_coeff")),
      grad_clip(c.F64("grad_clip")), kl_target(c.F64("kl_target")), log_std_init(c.F64("log_std_init")),
      vf_clip(c.Bool("vf_clip")), normalize_advantages(c.Bool("normalize_advantages")), normalize_obs(c.Bool("normalize_obs")),
      normalize_rewards(c.Bool("normalize_rewards")), ortho_init(c.Bool("ortho_init")) {
  const std::string schedule = c.Str("lr_schedule");
  lr_schedule = schedule == "linear" ? Schedule::kLinear : schedule == "kl_adaptive" ? Schedule::kKlAdaptive : Schedule::kConstant;
  clip_linear = c.Str("clip_schedule") == "linear";
  activation = c.Str("activation") == "relu" ? Activation::kRelu : Activation::kTanh;
  for (double size : c.List("hidden")) hidden.push_back(static_cast<int64_t>(size));
  if (lr_schedule == Schedule::kKlAdaptive && kl_target <= 0) {
    throw bp::ConfigError("lr_schedule: kl_adaptive needs a kl_target above 0 (" + c.Where("lr_schedule") + ")");
  }
}

namespace {

const bp_channel& Need(const bp_env_spec* env, uint16_t role, const char* name) {
  const bp_channel* channel = bp::FindChannel(env, role, name);
  if (!channel) throw bp::Unsupported(std::string("needs one ") + name + " channel, the env has none");
  if (channel->scope != BP_SCOPE_ROW) {
    throw bp::Unsupported(std::string("takes one agent per row, but channel '") + channel->name + "' is per agent");
  }
  return *channel;
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) : action(Need(env, BP_ROLE_ACTION, "ACTION")) {
  const bp_channel& observed = Need(env, BP_ROLE_OBS, "OBS");
  Need(env, BP_ROLE_REWARD, "REWARD");
  if (!bp::SameDtype(observed.dtype, bp::DtypeOf<float>())) throw bp::Unsupported("needs float32 observations");
  obs_name = observed.name, action_name = action.name;
  obs = bp::ElementCount(observed);
  discrete = action.space == BP_SPACE_DISCRETE;
  if (discrete && (bp::ElementCount(action) != 1 || !bp::SameDtype(action.dtype, bp::DtypeOf<int32_t>()))) {
    throw bp::Unsupported("takes one int32 per row as a discrete action");
  }
  if (!discrete && (action.space != BP_SPACE_BOX || !bp::SameDtype(action.dtype, bp::DtypeOf<float>()))) {
    throw bp::Unsupported("takes a float32 BOX or a DISCRETE action, channel '" + action_name + "' is neither");
  }
  actions = discrete ? action.nvec[0] : bp::ElementCount(action);
  for (int64_t i = 0; !discrete && i < actions; ++i) {
    const uint64_t at = action.n_bounds > 1 ? static_cast<uint64_t>(i) : 0;
    low.push_back(action.n_bounds ? static_cast<float>(action.low[at]) : -INFINITY);
    high.push_back(action.n_bounds ? static_cast<float>(action.high[at]) : INFINITY);
  }
  const bp_channel* mask = discrete ? bp::FindChannel(env, BP_ROLE_ACTION_MASK, "ACTION_MASK") : nullptr;
  if (mask && bp::ElementCount(*mask) != actions) throw bp::Unsupported("needs one mask flag per choice");
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::ppo

using backplane::ppo::Ppo;
BP_PLUGINS(Ppo);
