#include "state.hpp"

#include "rl/saved_numbers.hpp"
#include "rl/saved_sizes.hpp"

namespace backplane::ppo {
namespace {

constexpr uint64_t kMagic = 0x324F50502D5042;  // "BP-PPO2"

}  // namespace

StateShape ShapeOf(const Net& net) {
  const uint64_t flags =
      (net.discrete ? 1u : 0u) | (net.activation == Activation::kTanh ? 2u : 0u) | (net.shared ? 4u : 0u) | (net.sde ? 8u : 0u);
  return {flags, static_cast<uint64_t>(net.obs), static_cast<uint64_t>(net.actions), rl::SizesOf(net.actor),
          rl::SizesOf(net.critic)};
}

void WriteState(const bp::Writer& writer, const StateShape& shape, const rl::Optimizer<float>& optimizer,
                const ObsNormalizer& obs_norm, const RewardNormalizer& reward_norm, const Counters& counters) {
  for (const uint64_t each : {kMagic, shape.flags, shape.obs, shape.actions}) writer.Put(each);
  writer.PutAll(shape.actor.data(), shape.actor.size());
  writer.PutAll(shape.critic.data(), shape.critic.size());
  optimizer.Save(writer);
  obs_norm.Save(writer);
  reward_norm.Save(writer);
  writer.Put(counters.adaptive_lr);
  writer.Put(counters.epochs_done);
  writer.Put(counters.version);
}

void ReadState(const bp::Reader& reader, const StateShape& shape, rl::Optimizer<float>* optimizer, ObsNormalizer* obs_norm,
               RewardNormalizer* reward_norm, Counters* counters) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.ppo, format 2");
  reader.Expect(shape.flags, "the kind of net (1 discrete, 2 tanh, 4 share_layers, 8 use_sde, added up)");
  reader.Expect(shape.obs, "observation size");
  reader.Expect(shape.actions, "number of actions");
  rl::ExpectSizes(reader, shape.actor, "number of hidden layers", "hidden layer");
  rl::ExpectSizes(reader, shape.critic, "number of the critic's hidden layers", "hidden layer of the critic");
  optimizer->Load(reader);
  obs_norm->Load(reader);
  reward_norm->Load(reader);
  counters->adaptive_lr = reader.Get<double>();
  counters->epochs_done = reader.Get<uint64_t>();
  counters->version = reader.Get<uint64_t>();
  rl::NeedSavedFromZero(&counters->adaptive_lr, 1, "a learning rate");
}

}  // namespace backplane::ppo
