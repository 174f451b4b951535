#include "net.hpp"

#include "backplane/rng.h"

namespace backplane::sac {

Net::Net(const NetShape& s) : obs(s.obs), actions(s.actions) {
  actor = MakeTower(obs, s.hidden, 2 * actions, s.activation, &actor_size);
  for (Tower& critic : critics) critic = MakeTower(obs + actions, s.critic_hidden, 1, s.activation, &critics_size);
}

void InitParams(const Net& net, uint64_t seed, float* actor, float* critics) {
  uint64_t number = 0;
  const auto init = [&](const Tower& tower, float* params) {
    for (const nn::Layer& layer : AllLayers(tower))
      InitLayer(layer, 1, false, bp_seed(seed, BP_PURPOSE_LEARNER, 1, number++), params);
  };
  init(net.actor, actor);
  for (const Tower& critic : net.critics) init(critic, critics);
}

}  // namespace backplane::sac
