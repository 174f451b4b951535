#include "state.hpp"

#include "off_policy/state.hpp"

namespace backplane::td3 {

rl::SavedShape ShapeOf(const Net& net) {
  return {.magic = 0x314433542D5042,  // "BP-TD31"
          .format = "learner.td3, format 1",
          .numbers = {{net.actor.activation == Activation::kTanh ? 1u : 0u, "the kind of net (1 tanh)"},
                      {static_cast<uint64_t>(net.obs), "observation size"},
                      {static_cast<uint64_t>(net.actions), "number of actions"}},
          .hidden = rl::SizesOf(net.actor.hidden),
          .critic = rl::SizesOf(net.critics[0].hidden)};
}

void WriteTrainer(const bp::Writer& writer, const Trainer<float>& trainer) {
  ShapeOf(trainer.net()).Write(writer);
  trainer.actor().Save(writer);
  trainer.critics().Save(writer);
  WriteNumbers(writer, trainer.actor_target());
  WriteNumbers(writer, trainer.targets());
  writer.Put(trainer.updates());
}

void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer) {
  ShapeOf(trainer->net()).Expect(reader);
  trainer->actor().Load(reader);
  trainer->critics().Load(reader);
  ReadNumbers(reader, "the actor's target network", &trainer->actor_target());
  ReadNumbers(reader, "target networks", &trainer->targets());
  trainer->set_updates(reader.Get<uint64_t>());
}

void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer) {
  ShapeOf(trainer.net()).Write(writer);
  trainer.actor().SaveParams(writer);
  trainer.critics().SaveParams(writer);
  WriteNumbers(writer, trainer.targets());
}

void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer) {
  ShapeOf(trainer->net()).Expect(reader);
  trainer->actor().LoadParams(reader);
  trainer->critics().LoadParams(reader);
  ReadNumbers(reader, "target networks", &trainer->targets());
  trainer->CopyActorTarget();
}

}  // namespace backplane::td3
