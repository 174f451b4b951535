#include "options.hpp"

namespace backplane::ppo {

void Options::Check(const bp::Config& c) {
  if (share_layers && !vf_hidden.empty()) {
    throw bp::ConfigError("vf_hidden sizes a critic of its own, but share_layers gives it the actor's layers (" +
                          c.Where("vf_hidden") + ")");
  }
  if (vf_hidden.empty()) vf_hidden = hidden;
  if (device == Device::kCuda && update_path == UpdatePath::kFused)
    throw bp::ConfigError("device needs LibTorch's update, but update_path is fused");
  if (lr_schedule == LrSchedule::kKlAdaptive && kl_target <= 0) {
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
