#include "off_policy/options.hpp"

#include <string>

namespace backplane::off_policy {

void Options::CheckReplay(const bp::Config& c) const {
  if (static_cast<uint64_t>(n_step) > buffer_size)
    throw bp::ConfigError("n_step: expected at most buffer_size, got " + std::to_string(n_step) + " (" + c.Where("n_step") +
                          ")");
  if (device == on_policy::Device::kCuda && update_path == on_policy::UpdatePath::kFused)
    throw bp::ConfigError("device: expected update_path: torch or auto, got fused");
  if (use_amp == on_policy::Amp::kFp16)
    throw bp::ConfigError("use_amp: expected false, true or bf16, because the loss is not scaled, got fp16");
}

bp::OffPolicySchedule ScheduleOf(const Options& o) {
  return {.horizon = o.horizon,
          .train_freq = o.train_freq,
          .gradient_steps = o.gradient_steps,
          .learning_starts = o.learning_starts};
}

replay::SamplerOptions SamplerOptionsOf(const Options& o, bool follow) {
  return {.n_step = static_cast<uint64_t>(o.n_step),
          .follow = follow,
          .gamma = o.gamma,
          .prioritized = o.prioritized_replay,
          .alpha = o.priority_alpha,
          .beta = o.priority_beta,
          .epsilon = o.priority_eps};
}

}  // namespace backplane::off_policy
