#include "options.hpp"

namespace backplane::ppo {

void Options::Check(const bp::Config& c) {
  if (share_layers && !vf_hidden.empty()) {
    throw bp::ConfigError("vf_hidden: expected a separate critic, got share_layers, which uses the actor's layers (" +
                          c.Where("vf_hidden") + ")");
  }
  if (vf_hidden.empty()) vf_hidden = hidden;
  if (device == Device::kCuda && update_path == UpdatePath::kFused)
    throw bp::ConfigError("device: expected update_path: torch or auto, got fused");
  memory = ReadMemory(memory_option, *this, device, c);
  if (memory.size > 0) {
    device = Device::kCpu;
    if (minibatch_size < memory.sequence)
      throw bp::ConfigError("minibatch_size: expected memory.sequence (" + std::to_string(memory.sequence) +
                            ") or more, because minibatches contain whole sequences, got " + std::to_string(minibatch_size) +
                            " (" + c.Where("minibatch_size") + ")");
  }
  if (lr_schedule == LrSchedule::kKlAdaptive && kl_target <= 0) {
    throw bp::ConfigError("lr_schedule: kl_adaptive: expected a kl_target above 0, got 0 (" + c.Where("lr_schedule") + ")");
  }
}

Net MakeNet(const Options& o, const EnvShape& shape) {
  const Distributions& action = shape.distributions;
  if (o.use_sde && (action.each.size() > 1 || action.numbers == 0))
    throw bp::Unsupported(std::string("use_sde: expected one channel of continuous actions, got ") +
                          (action.each.size() > 1 ? "several actions" : "discrete ones"));
  if (o.image_net == ImageNet::kNature && shape.images.empty())
    throw bp::Unsupported(
        "image_net: nature: expected an OBS channel of uint8 images from 0 to 255, 36 x 36 or larger, got none");
  if (!shape.images.empty() && o.memory.size > 0)
    throw bp::Unsupported("memory: expected observations without images, got images; image_net: none makes them numbers");
  if (!shape.images.empty() && shape.obs == 0 && o.normalize_obs)
    throw bp::Unsupported("normalize_obs: expected observations other than images, which are scaled by 1/255, got only images");
  return Net({.obs = shape.obs,
              .actions = action.outputs,
              .hidden = o.hidden,
              .vf_hidden = o.vf_hidden,
              .shared = o.share_layers,
              .activation = o.activation,
              .sde = o.use_sde,
              .memory = o.memory.size,
              .distributions = action,
              .images = shape.images});
}

}  // namespace backplane::ppo
