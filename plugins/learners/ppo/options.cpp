#include "options.hpp"

namespace backplane::ppo {

Options::Options(const bp::Config& c)
    : train_batch_size(c.I64("train_batch_size")),
      minibatch_size(c.I64("minibatch_size")),
      num_epochs(c.I64("num_epochs")),
      update_shards(c.I64("update_shards")),
      sde_sample_freq(c.I64("sde_sample_freq")),
      lr(c.F64("lr")),
      gamma(c.F64("gamma")),
      lambda(c.F64("lambda")),
      clip(c.F64("clip_param")),
      vf_clip_param(c.F64("vf_clip_param")),
      entropy_coeff(c.F64("entropy_coeff")),
      vf_coeff(c.F64("vf_loss_coeff")),
      grad_clip(c.F64("grad_clip")),
      kl_target(c.F64("kl_target")),
      log_std_init(c.F64("log_std_init")),
      vf_clip(c.Bool("vf_clip")),
      normalize_advantages(c.Bool("normalize_advantages")),
      normalize_obs(c.Bool("normalize_obs")),
      normalize_rewards(c.Bool("normalize_rewards")),
      ortho_init(c.Bool("ortho_init")),
      share_layers(c.Bool("share_layers")),
      use_sde(c.Bool("use_sde")) {
  const std::string schedule = c.Str("lr_schedule");
  lr_schedule = schedule == "linear"        ? Schedule::kLinear
                : schedule == "kl_adaptive" ? Schedule::kKlAdaptive
                                            : Schedule::kConstant;
  clip_linear = c.Str("clip_schedule") == "linear";
  entropy_linear = c.Str("entropy_schedule") == "linear";
  const std::string path = c.Str("update_path");
  update_path = path == "fused" ? UpdatePath::kFused : path == "torch" ? UpdatePath::kTorch : UpdatePath::kAuto;
  activation = c.Str("activation") == "relu" ? Activation::kRelu : Activation::kTanh;
  for (double size : c.List("hidden")) hidden.push_back(static_cast<int64_t>(size));
  for (double size : c.List("vf_hidden")) vf_hidden.push_back(static_cast<int64_t>(size));
  if (share_layers && !vf_hidden.empty()) {
    throw bp::ConfigError("vf_hidden sizes a critic of its own, but share_layers gives it the actor's layers (" +
                          c.Where("vf_hidden") + ")");
  }
  if (vf_hidden.empty()) vf_hidden = hidden;
  if (lr_schedule == Schedule::kKlAdaptive && kl_target <= 0) {
    throw bp::ConfigError("lr_schedule: kl_adaptive needs a kl_target above 0 (" + c.Where("lr_schedule") + ")");
  }
}

Net MakeNet(const Options& o, const EnvShape& shape) {
  if (o.use_sde && shape.discrete) throw bp::Unsupported("use_sde is noise for continuous actions, the env's are discrete");
  return Net({.obs = shape.obs,
              .actions = shape.actions,
              .discrete = shape.discrete,
              .hidden = o.hidden,
              .vf_hidden = o.vf_hidden,
              .shared = o.share_layers,
              .activation = o.activation,
              .sde = o.use_sde});
}

}  // namespace backplane::ppo
