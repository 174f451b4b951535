#include "off_policy/net.hpp"

#include "backplane/rng.h"

namespace backplane::off_policy {

Net::Net(const NetShape& s, int64_t outputs) : obs(s.obs), actions(s.actions) {
  actor = MakeTower(obs, s.hidden, outputs, s.activation, &actor_size);
  for (Tower& critic : critics) critic = MakeTower(obs + actions, s.critic_hidden, 1, s.activation, &critics_size);
}

void InitParams(std::initializer_list<TowerParams> towers, uint64_t seed) {
  uint64_t number = 0;
  for (const TowerParams& each : towers)
    for (const nn::Layer& layer : AllLayers(*each.tower))
      InitLayer(layer, 1, false, bp_seed(seed, BP_PURPOSE_LEARNER, 1, number++), each.params);
}

}  // namespace backplane::off_policy
