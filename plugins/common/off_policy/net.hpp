// Networks of an actor with two critics: the actor in one flat parameter buffer, both critics in another.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "on_policy/parallel.hpp"
#include "on_policy/tower.hpp"

namespace backplane::off_policy {

using namespace on_policy;  // its towers, parts and optimiser

struct NetShape {
  int64_t obs, actions;
  std::vector<int64_t> hidden, critic_hidden;
  Activation activation = Activation::kRelu;
};

struct Net {
  // The actor's head has `outputs` numbers.
  Net(const NetShape& shape, int64_t outputs);

  int64_t obs, actions;
  Tower actor;
  Tower critics[2];  // input: observation, then action
  int64_t actor_size = 0, critics_size = 0;
};

// A tower and the buffer with its parameters.
struct TowerParams {
  const Tower* tower;
  float* params;
};
// Uniform weights in +-1/sqrt(inputs), biases 0, from Philox streams of `seed`.
void InitParams(std::initializer_list<TowerParams> towers, uint64_t seed);
inline void InitParams(const Net& net, uint64_t seed, float* actor, float* critics) {
  InitParams({{&net.actor, actor}, {&net.critics[0], critics}, {&net.critics[1], critics}}, seed);
}

}  // namespace backplane::off_policy
