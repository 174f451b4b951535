// Saving and loading: parameters, Adam, normalisers, counters. Fixed order and no padding, so the same state gives the same
// bytes.
#include "learner.hpp"

namespace backplane::ppo {
namespace {

constexpr uint64_t kMagic = 0x324F50502D5042;  // "BP-PPO2"

uint64_t Flags(const Net& net) {
  return (net.discrete ? 1u : 0u) | (net.activation == Activation::kTanh ? 2u : 0u) | (net.shared ? 4u : 0u) |
         (net.sde ? 8u : 0u);
}

void ExpectSizes(const bp::Reader& reader, const nn::Trunk& trunk, const char* count, const char* each) {
  reader.Expect(trunk.size(), count);
  for (const nn::Layer& layer : trunk) reader.Expect(static_cast<uint64_t>(layer.out), each);
}

void PutSizes(const bp::Writer& writer, const nn::Trunk& trunk) {
  writer.Put(static_cast<uint64_t>(trunk.size()));
  for (const nn::Layer& layer : trunk) writer.Put(static_cast<uint64_t>(layer.out));
}

}  // namespace

void Learner::Save(const bp::Writer& writer) const {
  writer.Put(kMagic);
  writer.Put(Flags(net_));
  writer.Put(static_cast<uint64_t>(net_.obs));
  writer.Put(static_cast<uint64_t>(net_.actions));
  PutSizes(writer, net_.actor);
  PutSizes(writer, net_.critic);
  update_.Save(writer);
  ObsNormalizer obs_norm = obs_norm_;
  if (moments_.count > 0) obs_norm.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  obs_norm.Save(writer);
  reward_norm_.Save(writer);
  writer.Put(adaptive_lr_);
  writer.Put(epochs_done_);
  writer.Put(version());
}

void Learner::Load(const bp::Reader& reader) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.ppo, format 2");
  reader.Expect(Flags(net_), "the kind of net (1 discrete, 2 tanh, 4 share_layers, 8 use_sde, added up)");
  reader.Expect(static_cast<uint64_t>(net_.obs), "observation size");
  reader.Expect(static_cast<uint64_t>(net_.actions), "number of actions");
  ExpectSizes(reader, net_.actor, "number of hidden layers", "hidden layer");
  ExpectSizes(reader, net_.critic, "number of the critic's hidden layers", "hidden layer of the critic");
  update_.Load(reader);
  actor_.Refresh(update_.params());
  obs_norm_.Load(reader);
  reward_norm_.Load(reader);
  adaptive_lr_ = reader.Get<double>();
  epochs_done_ = reader.Get<uint64_t>();
  moments_.count = 0;
  Restart(reader.Get<uint64_t>());
}

}  // namespace backplane::ppo
