// Saving and loading: parameters, Adam, ValueNorm, counters. Fixed order and no padding, so the same state gives the same
// bytes.
#include "learner.hpp"

namespace backplane::mappo {
namespace {

constexpr uint64_t kMagic = 0x314F50504D5042;  // "BP-MPPO1"

void PutSizes(const bp::Writer& writer, const Tower& tower) {
  writer.Put(static_cast<uint64_t>(tower.trunk.size() + 1));
  writer.Put(static_cast<uint64_t>(tower.input.out));
  for (const nn::Layer& layer : tower.trunk) writer.Put(static_cast<uint64_t>(layer.out));
}

void ExpectSizes(const bp::Reader& reader, const Tower& tower, const char* count, const char* each) {
  reader.Expect(tower.trunk.size() + 1, count);
  reader.Expect(static_cast<uint64_t>(tower.input.out), each);
  for (const nn::Layer& layer : tower.trunk) reader.Expect(static_cast<uint64_t>(layer.out), each);
}

}  // namespace

void Learner::Save(const bp::Writer& writer) const {
  writer.Put(kMagic);
  writer.Put(uint64_t{net_.actor.activation == Activation::kTanh});
  for (int64_t size : {net_.obs, net_.state, net_.actions}) writer.Put(static_cast<uint64_t>(size));
  PutSizes(writer, net_.actor);
  PutSizes(writer, net_.critic);
  optimizer_.Save(writer);
  value_norm_.Save(writer);
  writer.Put(epochs_done_);
  writer.Put(version());
}

void Learner::Load(const bp::Reader& reader) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.mappo, format 1");
  reader.Expect(uint64_t{net_.actor.activation == Activation::kTanh}, "activation (1 tanh, 0 relu)");
  reader.Expect(static_cast<uint64_t>(net_.obs), "observation size");
  reader.Expect(static_cast<uint64_t>(net_.state), "size of the critic's state");
  reader.Expect(static_cast<uint64_t>(net_.actions), "number of actions");
  ExpectSizes(reader, net_.actor, "number of hidden layers", "hidden layer");
  ExpectSizes(reader, net_.critic, "number of the critic's hidden layers", "hidden layer of the critic");
  optimizer_.Load(reader);
  value_norm_.Load(reader);
  epochs_done_ = reader.Get<uint64_t>();
  Refresh();
  Restart(reader.Get<uint64_t>());
}

}  // namespace backplane::mappo
