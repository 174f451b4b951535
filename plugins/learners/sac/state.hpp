// The formats of a saved SAC learner and of its policy. Fixed order and no padding, so that equal states give equal bytes.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "rl/saved_shape.hpp"
#include "trainer.hpp"

namespace backplane::sac {

rl::SavedShape ShapeOf(const Net& net);

// The trainer's complete state.
void WriteTrainer(const bp::Writer& writer, const Trainer<float>& trainer);
// Throws bp::Error for data that are no state of its shape, possibly after loading a part. Call Refresh afterwards, also below.
void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer);

// The actor, with the weights of the means and of the deviations apart (see SavedLayers), both critics with their targets, and
// log alpha.
void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer);
void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer);

// The actor's layers as WritePolicy writes them, up to the means; offsets are in numbers from the first parameter.
nn::Trunk SavedLayers(const Net& net);

}  // namespace backplane::sac
