// The formats of a saved DQN learner and of its policy. Fixed order and no padding, so that equal states give equal bytes.
#pragma once

#include "backplane/learner.hpp"
#include "rl/saved_shape.hpp"
#include "trainer.hpp"

namespace backplane::dqn {

rl::SavedShape ShapeOf(const Net& net);

// The trainer's complete state.
void WriteTrainer(const bp::Writer& writer, const Trainer<float>& trainer);
// Throws bp::Error for data that are no state of its shape, possibly after loading a part. Call Refresh afterwards, also below.
void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer);

// The network, with the weights of the choices and of the observation's value apart (see SavedLayers), and the target network.
void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer);
void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer);

// The layers as WritePolicy writes them, up to the choices' numbers: their largest is the best choice, also of a dueling
// network. Offsets are in numbers from the first parameter.
nn::Trunk SavedLayers(const Net& net);

}  // namespace backplane::dqn
