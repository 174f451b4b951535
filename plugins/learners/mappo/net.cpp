#include "net.hpp"

#include <algorithm>

namespace backplane::mappo {

Net::Net(const NetShape& s) : obs(s.obs), state(s.state), action(s.distributions), size(0) {
  if (action.each.empty()) action.Add(Kind::kChoice, s.actions);
  actions = action.outputs;
  actor = MakeTower(s.obs, s.hidden, actions, s.activation, &size, s.memory);
  log_std = size, size += log_stds();
  split = size;
  critic = MakeTower(s.state + s.obs, s.vf_hidden, 1, s.activation, &size);
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params) {
  InitTowers(net.actor, net.critic, seed, orthogonal, params);
  std::fill_n(params + net.log_std, net.log_stds(), static_cast<float>(log_std));
}

}  // namespace backplane::mappo
