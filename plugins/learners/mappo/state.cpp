#include "state.hpp"

namespace backplane::mappo {
namespace {

constexpr uint64_t kGroups = 0x474F50504D5042;  // "BPMPPOG"

}  // namespace

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

void WriteShapes(const bp::Writer& writer, const SavedShapes& shapes) {
  if (shapes.size() > 1) writer.Put(kGroups), writer.Put<uint64_t>(shapes.size());
  for (const rl::SavedShape& shape : shapes) shape.Write(writer);
}

void ExpectShapes(const bp::Reader& reader, const SavedShapes& shapes) {
  if (shapes.size() > 1) {
    if (reader.Get<uint64_t>() != kGroups)
      throw bp::Error(BP_E_INVALID_ARG, "expected a saved state of learner.mappo with groups of agents, got a different one");
    reader.Expect(shapes.size(), "number of groups");
  }
  for (const rl::SavedShape& shape : shapes) shape.Expect(reader);
}

void WriteState(const bp::Writer& writer, const SavedShapes& shapes, const Optimizer<float>& optimizer,
                const std::vector<const ValueNorm*>& value_norms, const Counters& counters) {
  WriteShapes(writer, shapes);
  optimizer.Save(writer);
  for (const ValueNorm* norm : value_norms) norm->Save(writer);
  writer.Put(counters.epochs_done);
  writer.Put(counters.version);
}

void ReadState(const bp::Reader& reader, const SavedShapes& shapes, Optimizer<float>* optimizer,
               const std::vector<ValueNorm*>& value_norms, Counters* counters) {
  ExpectShapes(reader, shapes);
  optimizer->Load(reader);
  for (ValueNorm* norm : value_norms) norm->Load(reader);
  counters->epochs_done = reader.Get<uint64_t>();
  counters->version = reader.Get<uint64_t>();
}

}  // namespace backplane::mappo
