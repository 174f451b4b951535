#include "state.hpp"

#include "off_policy/state.hpp"

namespace backplane::sac {
namespace {

// Calls run(begin) for runs of net.actions numbers of the head: weights and biases of the means, then of the deviations.
template <class Function>
void ForEachRun(const Net& net, Function&& run) {
  const nn::Layer& head = net.actor.head;
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t row = 0; row < head.in; ++row) run(head.weight + row * head.out + half * net.actions);
    run(head.bias + half * net.actions);
  }
}

// A fixed alpha has no logarithm if it is 0.
void ReadLogAlpha(const bp::Reader& reader, const Temperature& temperature, Temperature::State* state) {
  state->log_alpha = reader.Get<double>();
  if (temperature.learned()) rl::NeedSavedFinite(&state->log_alpha, 1, "log alpha");
}

}  // namespace

rl::SavedShape ShapeOf(const Net& net) {
  return {.magic = 0x314341532D5042,  // "BP-SAC1"
          .format = "learner.sac, format 1",
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
  WriteNumbers(writer, trainer.targets());
  const Temperature::State t = trainer.temperature().state();
  for (const double number : {t.log_alpha, t.m, t.v}) writer.Put(number);
  writer.Put(t.steps);
  writer.Put(trainer.updates());
}

void ReadTrainer(const bp::Reader& reader, Trainer<float>* trainer) {
  ShapeOf(trainer->net()).Expect(reader);
  trainer->actor().Load(reader);
  trainer->critics().Load(reader);
  ReadNumbers(reader, "target networks", &trainer->targets());
  Temperature::State t{};
  ReadLogAlpha(reader, trainer->temperature(), &t);
  t.m = reader.Get<double>(), t.v = reader.Get<double>();
  t.steps = reader.Get<int64_t>();
  rl::NeedSavedFinite(&t.m, 1, "the first moment of log alpha");
  rl::NeedSavedFromZero(&t.v, 1, "the second moment of log alpha");
  rl::NeedSavedFromZero(&t.steps, 1, "a number of steps");
  trainer->temperature().Restore(t);
  trainer->set_updates(reader.Get<uint64_t>());
}

void WritePolicy(const bp::Writer& writer, const Trainer<float>& trainer) {
  const Net& net = trainer.net();
  ShapeOf(net).Write(writer);
  const float* params = trainer.actor().params();
  writer.Put(static_cast<uint64_t>(net.actor_size));
  writer.Bytes(params, static_cast<uint64_t>(net.actor.head.weight) * sizeof(float));
  ForEachRun(net, [&](int64_t begin) { writer.Bytes(params + begin, static_cast<uint64_t>(net.actions) * sizeof(float)); });
  trainer.critics().SaveParams(writer);
  WriteNumbers(writer, trainer.targets());
  writer.Put(trainer.temperature().state().log_alpha);
}

void ReadPolicy(const bp::Reader& reader, Trainer<float>* trainer) {
  const Net& net = trainer->net();
  ShapeOf(net).Expect(reader);
  reader.Expect(static_cast<uint64_t>(net.actor_size), "parameters");
  float* params = trainer->actor().params();
  reader.Bytes(params, static_cast<uint64_t>(net.actor.head.weight) * sizeof(float));
  ForEachRun(net, [&](int64_t begin) { reader.Bytes(params + begin, static_cast<uint64_t>(net.actions) * sizeof(float)); });
  rl::NeedSavedFinite(params, static_cast<uint64_t>(net.actor_size), "parameters");
  trainer->critics().LoadParams(reader);
  ReadNumbers(reader, "target networks", &trainer->targets());
  Temperature::State t = trainer->temperature().state();
  ReadLogAlpha(reader, trainer->temperature(), &t);
  trainer->temperature().Restore(t);
}

nn::Trunk SavedLayers(const Net& net) {
  nn::Trunk layers = net.actor.hidden;
  const nn::Layer& head = net.actor.head;
  layers.push_back({head.in, net.actions, head.weight, head.weight + head.in * net.actions});
  return layers;
}

}  // namespace backplane::sac
