#include "net.hpp"

#include <algorithm>

#include "backplane/rng.h"

namespace backplane::ppo {

Net::Net(const NetShape& s) : obs(s.obs), action(s.distributions), shared(s.shared), sde(s.sde), size(0) {
  if (action.each.empty()) action.Add(s.discrete ? Kind::kChoice : Kind::kGaussian, s.actions);
  actions = action.outputs, discrete = action.numbers == 0;
  actor_inputs = obs;
  for (const nn::Image& image : s.images) visions.push_back(MakeVision(image, &size)), actor_inputs += visions.back().dense.out;
  actor = MakeTower(inputs(), s.hidden, actions, s.activation, &size, s.memory);
  critic = shared ? MakeTower(latent(), {}, 1, s.activation, &size)
                  : MakeTower(inputs(), s.vf_hidden, 1, s.activation, &size, s.memory);
  for (Tower* tower : {&actor, &critic})
    if (sees()) tower->derives_inputs = true, tower->widest = std::max(tower->widest, inputs());
  log_std = size, size += log_stds();
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params) {
  for (size_t i = 0; i < net.visions.size(); ++i)
    InitVision(net.visions[i], bp_seed(seed, BP_PURPOSE_LEARNER, 2, i), orthogonal, params);
  InitTowers(net.actor, net.critic, seed, orthogonal, params);
  std::fill_n(params + net.log_std, net.log_stds(), static_cast<float>(log_std));
}

}  // namespace backplane::ppo
