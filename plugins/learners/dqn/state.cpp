#include "state.hpp"

#include "off_policy/state.hpp"

namespace backplane::dqn {
namespace {

// Calls run(begin, count) for runs of numbers of the head: weights and biases of the choices, then of the observation's value.
template <class Function>
void ForEachRun(const Net& net, Function&& run) {
  const nn::Layer& head = net.tower.head;
  for (int64_t first = 0; first < head.out; first += net.choices) {
    const int64_t count = first == 0 ? net.choices : 1;
    for (int64_t row = 0; row < head.in; ++row) run(head.weight + row * head.out + first, count);
    run(head.bias + first, count);
  }
}

uint64_t Bytes(int64_t floats) { return static_cast<uint64_t>(floats) * sizeof(float); }

}  // namespace

rl::SavedShape ShapeOf(const Net& net) {
  return {.magic = 0x314E51442D5042,  // "BP-DQN1"
          .format = "learner.dqn, format 1",
          .numbers = {{(net.tower.activation == Activation::kTanh ? 1u : 0u) | (net.dueling ? 2u : 0u) | (net.masked ? 4u : 0u),
                       "the kind of net (1 tanh, 2 dueling, 4 masked)"},
                      {static_cast<uint64_t>(net.obs), "observation size"},
                      {static_cast<uint64_t>(net.choices), "number of choices"}},
          .hidden = rl::SizesOf(net.tower.hidden)};
}

void WriteTrainer(const bp::Writer& writer, const Trainer<float>& trainer) {
  ShapeOf(trainer.net()).Write(writer);
  trainer.optimizer().Save(writer);
  WriteNumbers(writer, trainer.target());
  writer.Put(trainer.updates());
}

void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer) {
  ShapeOf(trainer->net()).Expect(reader);
  trainer->optimizer().Load(reader);
  ReadNumbers(reader, "target network", &trainer->target());
  trainer->set_updates(reader.Get<uint64_t>());
}

void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer) {
  const Net& net = trainer.net();
  ShapeOf(net).Write(writer);
  const float* params = trainer.optimizer().params();
  writer.Put(static_cast<uint64_t>(net.size));
  writer.Bytes(params, Bytes(net.tower.head.weight));
  ForEachRun(net, [&](int64_t begin, int64_t count) { writer.Bytes(params + begin, Bytes(count)); });
  WriteNumbers(writer, trainer.target());
}

void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer) {
  const Net& net = trainer->net();
  ShapeOf(net).Expect(reader);
  reader.Expect(static_cast<uint64_t>(net.size), "parameters");
  float* params = trainer->optimizer().params();
  reader.Bytes(params, Bytes(net.tower.head.weight));
  ForEachRun(net, [&](int64_t begin, int64_t count) { reader.Bytes(params + begin, Bytes(count)); });
  rl::NeedSavedFinite(params, static_cast<uint64_t>(net.size), "parameters");
  ReadNumbers(reader, "target network", &trainer->target());
}

nn::Trunk SavedLayers(const Net& net) {
  nn::Trunk layers = net.tower.hidden;
  const nn::Layer& head = net.tower.head;
  layers.push_back({head.in, net.choices, head.weight, head.weight + head.in * net.choices});
  return layers;
}

}  // namespace backplane::dqn
