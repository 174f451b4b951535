// SAC's networks: the actor in one flat parameter buffer, both critics in another.
#pragma once

#include <cstdint>
#include <vector>

#include "on_policy/parallel.hpp"
#include "on_policy/tower.hpp"

namespace backplane::sac {

using namespace on_policy;  // its towers, parts and optimiser

struct NetShape {
  int64_t obs, actions;
  std::vector<int64_t> hidden, critic_hidden;
  Activation activation = Activation::kRelu;
};

struct Net {
  explicit Net(const NetShape& shape);

  int64_t obs, actions;
  Tower actor;       // head: the means, then the logarithms of the deviations, [2 * actions]
  Tower critics[2];  // input: observation, then action
  int64_t actor_size = 0, critics_size = 0;
};

// Uniform weights in +-1/sqrt(inputs), biases 0, from Philox streams of `seed`.
void InitParams(const Net& net, uint64_t seed, float* actor, float* critics);

}  // namespace backplane::sac
