#include "net.hpp"

#include <algorithm>

namespace backplane::ppo {

Net::Net(const NetShape& s) : obs(s.obs), action(s.distributions), shared(s.shared), sde(s.sde), size(0) {
  if (action.each.empty()) action.Add(s.discrete ? Kind::kChoice : Kind::kGaussian, s.actions);
  actions = action.outputs, discrete = action.numbers == 0;
  actor = MakeTower(obs, s.hidden, actions, s.activation, &size, s.memory);
  critic =
      shared ? MakeTower(latent(), {}, 1, s.activation, &size) : MakeTower(obs, s.vf_hidden, 1, s.activation, &size, s.memory);
  log_std = size, size += log_stds();
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params) {
  InitTowers(net.actor, net.critic, seed, orthogonal, params);
  std::fill_n(params + net.log_std, net.log_stds(), static_cast<float>(log_std));
}

}  // namespace backplane::ppo
