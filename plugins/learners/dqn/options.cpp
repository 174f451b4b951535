#include "options.hpp"

namespace backplane::dqn {

void Options::Check(const bp::Config& c) { CheckReplay(c); }

Net MakeNet(const Options& o, const rl::EnvShape& shape) {
  if (!shape.discrete) throw bp::Unsupported("expected discrete actions (DISCRETE), got continuous ones");
  return Net({.obs = shape.obs,
              .choices = shape.actions,
              .hidden = o.hidden,
              .activation = o.activation,
              .dueling = o.dueling,
              .masked = !shape.mask_name.empty()});
}

TrainerOptions TrainerOptionsOf(const Options& o) {
  return {.lr = o.lr, .tau = o.tau, .grad_clip = o.grad_clip, .double_q = o.double_q};
}

}  // namespace backplane::dqn
