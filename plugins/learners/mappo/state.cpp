#include "state.hpp"

#include "rl/saved_sizes.hpp"

namespace backplane::mappo {
namespace {

constexpr uint64_t kMagic = 0x314F50504D5042;  // "BP-MPPO1"

std::vector<uint64_t> SizesOf(const Tower& tower) {
  std::vector<uint64_t> sizes = rl::SizesOf(tower.trunk);
  sizes.insert(sizes.begin(), static_cast<uint64_t>(tower.input.out));
  return sizes;
}

}  // namespace

StateShape ShapeOf(const Net& net) {
  return {net.actor.activation == Activation::kTanh,
          static_cast<uint64_t>(net.obs),
          static_cast<uint64_t>(net.state),
          static_cast<uint64_t>(net.actions),
          SizesOf(net.actor),
          SizesOf(net.critic)};
}

void WriteState(const bp::Writer& writer, const StateShape& shape, const rl::Optimizer<float>& optimizer,
                const ValueNorm& value_norm, const Counters& counters) {
  for (const uint64_t each : {kMagic, shape.tanh, shape.obs, shape.state, shape.actions}) writer.Put(each);
  writer.PutAll(shape.actor.data(), shape.actor.size());
  writer.PutAll(shape.critic.data(), shape.critic.size());
  optimizer.Save(writer);
  value_norm.Save(writer);
  writer.Put(counters.epochs_done);
  writer.Put(counters.version);
}

void ReadState(const bp::Reader& reader, const StateShape& shape, rl::Optimizer<float>* optimizer, ValueNorm* value_norm,
               Counters* counters) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.mappo, format 1");
  reader.Expect(shape.tanh, "activation (1 tanh, 0 relu)");
  reader.Expect(shape.obs, "observation size");
  reader.Expect(shape.state, "size of the critic's state");
  reader.Expect(shape.actions, "number of actions");
  rl::ExpectSizes(reader, shape.actor, "number of hidden layers", "hidden layer");
  rl::ExpectSizes(reader, shape.critic, "number of the critic's hidden layers", "hidden layer of the critic");
  optimizer->Load(reader);
  value_norm->Load(reader);
  counters->epochs_done = reader.Get<uint64_t>();
  counters->version = reader.Get<uint64_t>();
}

}  // namespace backplane::mappo
