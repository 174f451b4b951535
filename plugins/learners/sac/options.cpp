#include "options.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace backplane::sac {

void Options::Check(const bp::Config& c) {
  if (critic_hidden.empty()) critic_hidden = hidden;
  const std::string word = ent_coef ? "" : c.Str("ent_coef");
  if (c.IsSet("initial_alpha") && word != "auto")
    throw bp::ConfigError("initial_alpha: expected ent_coef: auto, got " + (word.empty() ? "a number" : word) + " (" +
                          c.Where("initial_alpha") + ")");
  if (constexpr std::string_view kFirst = "auto_"; word.starts_with(kFirst))
    initial_alpha = std::stod(word.substr(kFirst.size()));
  if (static_cast<uint64_t>(n_step) > buffer_size)
    throw bp::ConfigError("n_step: expected at most buffer_size, got " + std::to_string(n_step) + " (" + c.Where("n_step") +
                          ")");
}

Net MakeNet(const Options& o, const rl::EnvShape& shape) {
  if (shape.discrete) throw bp::Unsupported("expected continuous actions (BOX), got discrete ones");
  for (int64_t i = 0; i < shape.actions; ++i) {
    if (std::isfinite(shape.low[i]) && std::isfinite(shape.high[i])) continue;
    throw bp::Unsupported("expected actions with both bounds, because they are squashed into them; number " +
                          std::to_string(i) + " of channel '" + shape.action_name + "' has none");
  }
  return Net({shape.obs, shape.actions, o.hidden, o.critic_hidden, o.activation});
}

TrainerOptions TrainerOptionsOf(const Options& o) {
  return {.lr = o.lr,
          .critic_lr = o.critic_lr.value_or(o.lr),
          .alpha_lr = o.alpha_lr.value_or(o.lr),
          .tau = o.tau,
          .grad_clip = o.grad_clip,
          .target_update_interval = o.target_update_interval};
}

Temperature TemperatureOf(const Options& o, int64_t actions) {
  return Temperature(o.ent_coef.value_or(o.initial_alpha), !o.ent_coef,
                     o.target_entropy.value_or(-static_cast<double>(actions)));
}

bp::OffPolicySchedule ScheduleOf(const Options& o) {
  return {.horizon = o.horizon,
          .train_freq = o.train_freq,
          .gradient_steps = o.gradient_steps,
          .learning_starts = o.learning_starts};
}

replay::SamplerOptions SamplerOptionsOf(const Options& o) {
  return {.n_step = static_cast<uint64_t>(o.n_step),
          .gamma = o.gamma,
          .prioritized = o.prioritized_replay,
          .alpha = o.priority_alpha,
          .beta = o.priority_beta,
          .epsilon = o.priority_eps};
}

}  // namespace backplane::sac
