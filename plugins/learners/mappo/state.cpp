#include "state.hpp"

namespace backplane::mappo {

rl::SavedShape ShapeOf(const Net& net) {
  rl::SavedShape shape = {.magic = 0x314F50504D5042,  // "BP-MPPO1"
                          .format = "learner.mappo, format 1",
                          .numbers = {{net.actor.activation == Activation::kTanh, "activation (1 tanh, 0 relu)"},
                                      {static_cast<uint64_t>(net.obs), "observation size"},
                                      {static_cast<uint64_t>(net.state), "size of the critic's state"},
                                      {static_cast<uint64_t>(net.actions), "number of actions"}},
                          .hidden = rl::SizesOf(net.actor.hidden),
                          .critic = rl::SizesOf(net.critic.hidden)};
  if (!net.action.is_plain() || net.log_stds() > 0) {
    shape.magic = 0x324F50504D5042, shape.format = "learner.mappo, format 2";  // "BPMPPO2"
    shape.numbers.push_back({static_cast<uint64_t>(net.actor.memory.size), "size of the memory"});
    shape.numbers.push_back({net.action.each.size(), "number of distributions"});
    for (const Distribution& part : net.action.each) {
      shape.numbers.push_back({static_cast<uint64_t>(part.kind), "kind of a distribution (0 numbers, 1 choice, 2 bits)"});
      shape.numbers.push_back({static_cast<uint64_t>(part.n), "outputs of a distribution"});
    }
    return shape;
  }
  if (net.actor.memory.size == 0) return shape;
  shape.magic = 0x4D4F50504D5042, shape.format = "learner.mappo with a memory, format 1";  // "BPMPPOM"
  shape.numbers.push_back({static_cast<uint64_t>(net.actor.memory.size), "size of the memory"});
  return shape;
}

void WriteState(const bp::Writer& writer, const rl::SavedShape& shape, const Optimizer<float>& optimizer,
                const ValueNorm& value_norm, const Counters& counters) {
  shape.Write(writer);
  optimizer.Save(writer);
  value_norm.Save(writer);
  writer.Put(counters.epochs_done);
  writer.Put(counters.version);
}

void ReadState(const bp::Reader& reader, const rl::SavedShape& shape, Optimizer<float>* optimizer, ValueNorm* value_norm,
               Counters* counters) {
  shape.Expect(reader);
  optimizer->Load(reader);
  value_norm->Load(reader);
  counters->epochs_done = reader.Get<uint64_t>();
  counters->version = reader.Get<uint64_t>();
}

}  // namespace backplane::mappo
