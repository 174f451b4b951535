// The format of a saved PPO learner: parameters, Adam, normalisers, counters. Fixed order and no padding, so that equal states
// give equal bytes. Needs no LibTorch.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "normalizer.hpp"
#include "on_policy/optimizer.hpp"
#include "rl/saved_shape.hpp"

namespace backplane::ppo {

rl::SavedShape ShapeOf(const Net& net);

struct Counters {
  double adaptive_lr;
  uint64_t epochs_done, version;
};

void WriteState(const bp::Writer& writer, const rl::SavedShape& shape, const Optimizer<float>& optimizer,
                const ObsNormalizer& obs_norm, const RewardNormalizer& reward_norm, const Counters& counters);
// Throws bp::Error for data that are no state of this shape, possibly after loading a part.
void ReadState(const bp::Reader& reader, const rl::SavedShape& shape, Optimizer<float>* optimizer, ObsNormalizer* obs_norm,
               RewardNormalizer* reward_norm, Counters* counters);

}  // namespace backplane::ppo
