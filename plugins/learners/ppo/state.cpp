// Saving and loading: parameters, Adam, normalisers, counters. Fixed order and no padding, so the same state gives the same
// bytes.
#include "learner.hpp"

namespace backplane::ppo {
namespace {

constexpr uint64_t kMagic = 0x314F50502D5042;  // "BP-PPO1"

uint64_t Flags(const Net& net) { return (net.discrete ? 1u : 0u) | (net.activation == Activation::kTanh ? 2u : 0u); }

}  // namespace

void Learner::Save(const bp::Writer& writer) const {
  auto& update = const_cast<PpoUpdate<float>&>(update_);  // its accessors serve reading and writing
  const auto size = static_cast<uint64_t>(net_.size);
  writer.Put(kMagic);
  writer.Put(Flags(net_));
  writer.Put(static_cast<uint64_t>(net_.obs));
  writer.Put(static_cast<uint64_t>(net_.actions));
  writer.PutAll(options_.hidden.data(), options_.hidden.size());
  for (const float* values : {update.params(), update.adam_m(), update.adam_v()}) writer.PutAll(values, size);
  writer.Put(*update.adam_steps());
  ObsNormalizer obs_norm = obs_norm_;
  if (moments_.count > 0) obs_norm.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  obs_norm.Save(writer);
  reward_norm_.Save(writer);
  writer.Put(adaptive_lr_);
  writer.Put(epochs_done_);
  writer.Put(version());
}

void Learner::Load(const bp::Reader& reader) {
  if (reader.Get<uint64_t>() != kMagic) throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.ppo 1");
  reader.Expect(Flags(net_), "the kind of action and activation (bit 0 discrete, bit 1 tanh)");
  reader.Expect(static_cast<uint64_t>(net_.obs), "observation size");
  reader.Expect(static_cast<uint64_t>(net_.actions), "number of actions");
  reader.Expect(options_.hidden.size(), "number of hidden layers");
  for (int64_t wanted : options_.hidden) reader.Expect(static_cast<uint64_t>(wanted), "hidden layer");
  const auto size = static_cast<uint64_t>(net_.size);
  reader.GetAll(update_.params(), size, "parameters");
  reader.GetAll(update_.adam_m(), size, "first moments of Adam");
  reader.GetAll(update_.adam_v(), size, "second moments of Adam");
  *update_.adam_steps() = reader.Get<int64_t>();
  obs_norm_.Load(reader);
  reward_norm_.Load(reader);
  adaptive_lr_ = reader.Get<double>();
  epochs_done_ = reader.Get<uint64_t>();
  moments_.count = 0;
  Restart(reader.Get<uint64_t>());
}

}  // namespace backplane::ppo
