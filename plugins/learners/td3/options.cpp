#include "options.hpp"

#include "off_policy/box_actor.hpp"

namespace backplane::td3 {

void Options::Check(const bp::Config& c) {
  if (critic_hidden.empty()) critic_hidden = hidden;
  CheckReplay(c);
}

Net MakeNet(const Options& o, const rl::EnvShape& shape) {
  off_policy::NeedBox(shape);
  return Net({shape.obs, shape.actions, o.hidden, o.critic_hidden, o.activation});
}

TrainerOptions TrainerOptionsOf(const Options& o) {
  return {.lr = o.lr,
          .critic_lr = o.critic_lr.value_or(o.lr),
          .tau = o.tau,
          .grad_clip = o.grad_clip,
          .target_noise = o.target_noise,
          .target_noise_clip = o.target_noise_clip,
          .policy_delay = o.policy_delay};
}

}  // namespace backplane::td3
