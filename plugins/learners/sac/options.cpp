#include "options.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace backplane::sac {
namespace {

// The whole text as a finite number, or nothing.
std::optional<double> NumberIn(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

void Options::Check(const bp::Config& c) {
  if (critic_hidden.empty()) critic_hidden = hidden;
  const bool learned = ent_coef.starts_with("auto"), has_first = ent_coef.starts_with("auto_");
  const std::optional<double> number = NumberIn(std::string_view(ent_coef).substr(has_first ? 5 : 0));
  const bool ok = ent_coef == "auto" || (number && (has_first ? *number > 0 : !learned && *number >= 0));
  if (!ok)
    throw bp::ConfigError("ent_coef: expected auto, auto_ and a number above 0, or a number from 0, got '" + ent_coef + "' (" +
                          c.Where("ent_coef") + ")");
  if (c.IsSet("initial_alpha") && ent_coef != "auto")
    throw bp::ConfigError("initial_alpha: expected ent_coef: auto, got " + ent_coef + " (" + c.Where("initial_alpha") + ")");
  if (has_first) initial_alpha = *number;
  if (!learned) fixed_alpha = *number;
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
  return Temperature(o.fixed_alpha.value_or(o.initial_alpha), !o.fixed_alpha,
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
