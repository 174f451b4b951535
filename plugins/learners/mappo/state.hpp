// The format of a saved MAPPO learner: parameters, Adam, ValueNorm, counters. Fixed order and no padding, so that equal states
// give equal bytes. Needs no LibTorch.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "on_policy/optimizer.hpp"
#include "rl/saved_shape.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

rl::SavedShape ShapeOf(const Net& net);

struct Counters {
  uint64_t epochs_done, version;
};

void WriteState(const bp::Writer& writer, const rl::SavedShape& shape, const Optimizer<float>& optimizer,
                const ValueNorm& value_norm, const Counters& counters);
// Throws bp::Error for data that are no state of this shape, possibly after loading a part.
void ReadState(const bp::Reader& reader, const rl::SavedShape& shape, Optimizer<float>* optimizer, ValueNorm* value_norm,
               Counters* counters);

}  // namespace backplane::mappo
