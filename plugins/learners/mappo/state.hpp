// The bytes of a saved MAPPO learner: parameters, Adam, ValueNorm, counters. Fixed order and no padding, so the same state
// gives the same bytes. Needs no LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "rl/optimizer.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

// What the bytes begin with, and what a learner must have to take them over.
struct StateShape {
  uint64_t tanh, obs, state, actions;
  std::vector<uint64_t> actor, critic;  // hidden layers
};
StateShape ShapeOf(const Net& net);

struct Counters {
  uint64_t epochs_done, version;
};

void WriteState(const bp::Writer& writer, const StateShape& shape, const rl::Optimizer<float>& optimizer,
                const ValueNorm& value_norm, const Counters& counters);
// Throws bp::Error for bytes that are no state of this shape. Part of it may have been taken over then.
void ReadState(const bp::Reader& reader, const StateShape& shape, rl::Optimizer<float>* optimizer, ValueNorm* value_norm,
               Counters* counters);

}  // namespace backplane::mappo
