// The actor, shared by all agents, and the critic over one flat parameter buffer: the actor's parameters first.
#pragma once

#include <cstdint>
#include <vector>

#include "on_policy/distributions.hpp"
#include "on_policy/tower.hpp"

namespace backplane::mappo {

using namespace on_policy;  // MAPPO builds on it

struct NetShape {
  int64_t obs, state, actions;             // state 0: the critic sees only observations
  std::vector<int64_t> hidden, vf_hidden;  // at least one size each
  Activation activation = Activation::kTanh;
  int64_t memory = 0;                // size of the state of the actor's memory; 0: none
  Distributions distributions = {};  // of the action; empty: one choice of `actions`
};

// The critic's input is the state followed by the agent's observation. The state's part of the first layer is thus a prefix of
// each sum that all agents of a row share.
struct Net {
  explicit Net(const NetShape& shape);
  int64_t log_stds() const { return action.numbers; }

  int64_t obs, state, actions;  // actions: outputs of the actor
  Distributions action;
  Tower actor, critic;
  int64_t log_std;      // offset of the logarithms of the numbers' deviations, the last parameters of the actor
  int64_t split, size;  // parameters [0, split) belong to the actor
};

// Like InitTowers, and sets every log_std.
void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params);

}  // namespace backplane::mappo
