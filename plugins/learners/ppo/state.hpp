// The bytes of a saved PPO learner: parameters, Adam, normalisers, counters. Fixed order and no padding, so the same state
// gives the same bytes. Needs no LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "normalizer.hpp"
#include "rl/optimizer.hpp"

namespace backplane::ppo {

// What the bytes begin with, and what a learner must have to take them over.
struct StateShape {
  uint64_t flags, obs, actions;
  std::vector<uint64_t> actor, critic;  // hidden layers
};
StateShape ShapeOf(const Net& net);

struct Counters {
  double adaptive_lr;
  uint64_t epochs_done, version;
};

void WriteState(const bp::Writer& writer, const StateShape& shape, const rl::Optimizer<float>& optimizer,
                const ObsNormalizer& obs_norm, const RewardNormalizer& reward_norm, const Counters& counters);
// Throws bp::Error for bytes that are no state of this shape. Part of it may have been taken over then.
void ReadState(const bp::Reader& reader, const StateShape& shape, rl::Optimizer<float>* optimizer, ObsNormalizer* obs_norm,
               RewardNormalizer* reward_norm, Counters* counters);

}  // namespace backplane::ppo
