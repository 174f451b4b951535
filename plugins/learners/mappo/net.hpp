// The actor, shared by all agents, and the critic over one flat parameter buffer: the actor's parameters first.
#pragma once

#include <cstdint>
#include <vector>

#include "on_policy/tower.hpp"

namespace backplane::mappo {

using namespace on_policy;  // MAPPO is that and what stands here

struct NetShape {
  int64_t obs, state, actions;             // state 0: the critic sees observations alone
  std::vector<int64_t> hidden, vf_hidden;  // one size or more each
  Activation activation = Activation::kTanh;
};

// The critic's inputs are the state and then the agent's observation, so that the state's part of its first layer, the same for
// all agents of a row, is the start of each agent's sum.
struct Net {
  explicit Net(const NetShape& shape);
  int64_t obs, state, actions;
  Tower actor, critic;
  int64_t split, size;  // parameters [0, split) are the actor's
};

}  // namespace backplane::mappo
