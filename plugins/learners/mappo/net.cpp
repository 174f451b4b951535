#include "net.hpp"

#include <cmath>

#include "backplane/rng.h"

namespace backplane::mappo {

Net::Net(const NetShape& s) : obs(s.obs), state(s.state), actions(s.actions) {
  size = 0;
  actor = MakeTower(s.obs, s.hidden, s.actions, s.activation, &size);
  split = size;
  critic = MakeTower(s.state + s.obs, s.vf_hidden, 1, s.activation, &size);
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, float* params) {
  uint64_t number = 0;
  const auto init = [&](const nn::Layer& layer, double gain) {
    InitLayer(layer, gain, orthogonal, bp_seed(seed, BP_PURPOSE_LEARNER, 1, number++), params);
  };
  for (const auto& [tower, head_gain] : {std::pair{&net.actor, 0.01}, std::pair{&net.critic, 1.0}}) {
    init(tower->input, std::sqrt(2.0));
    for (const nn::Layer& layer : tower->trunk) init(layer, std::sqrt(2.0));
    init(tower->head, head_gain);
  }
}

}  // namespace backplane::mappo
