#include "options.hpp"

#include <string>
#include <string_view>

#include "off_policy/box_actor.hpp"

namespace backplane::sac {

void Options::Check(const bp::Config& c) {
  if (critic_hidden.empty()) critic_hidden = hidden;
  const std::string word = ent_coef ? "" : c.Str("ent_coef");
  if (c.IsSet("initial_alpha") && word != "auto")
    throw bp::ConfigError("initial_alpha: expected ent_coef: auto, got " + (word.empty() ? "a number" : word) + " (" +
                          c.Where("initial_alpha") + ")");
  if (constexpr std::string_view kFirst = "auto_"; word.starts_with(kFirst))
    initial_alpha = std::stod(word.substr(kFirst.size()));
  CheckReplay(c);
}

Net MakeNet(const Options& o, const rl::EnvShape& shape) {
  off_policy::NeedBox(shape);
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

}  // namespace backplane::sac
