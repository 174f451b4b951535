// The formats of a saved TD3 learner and of its policy. Fixed order and no padding, so that equal states give equal bytes.
#pragma once

#include "backplane/learner.hpp"
#include "rl/saved_shape.hpp"
#include "trainer.hpp"

namespace backplane::td3 {

rl::SavedShape ShapeOf(const Net& net);

// The trainer's complete state.
void WriteTrainer(const bp::Writer& writer, const Trainer<float>& trainer);
// Throws bp::Error for data that are no state of its shape, possibly after loading a part. Call Refresh afterwards, also below.
void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer);

// The actor, and both critics with their targets. The actor's target is read as a copy of the actor, because a file with a
// policy has only the actor.
void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer);
void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer);

}  // namespace backplane::td3
