// The format of a saved MAPPO learner: parameters, Adam, ValueNorm, counters. Fixed order and no padding, so that equal states
// give equal bytes. Needs no LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "on_policy/optimizer.hpp"
#include "rl/saved_shape.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

rl::SavedShape ShapeOf(const Net& net);

// The shapes of all groups' nets. Without groups the one shape is the header, as before there were groups.
using SavedShapes = std::vector<rl::SavedShape>;
void WriteShapes(const bp::Writer& writer, const SavedShapes& shapes);
void ExpectShapes(const bp::Reader& reader, const SavedShapes& shapes);

struct Counters {
  uint64_t epochs_done, version;
};

// One ValueNorm per group.
void WriteState(const bp::Writer& writer, const SavedShapes& shapes, const Optimizer<float>& optimizer,
                const std::vector<const ValueNorm*>& value_norms, const Counters& counters);
// Throws bp::Error for data that are no state of these shapes, possibly after loading a part.
void ReadState(const bp::Reader& reader, const SavedShapes& shapes, Optimizer<float>* optimizer,
               const std::vector<ValueNorm*>& value_norms, Counters* counters);

}  // namespace backplane::mappo
