#include "state.hpp"

#include "rl/saved_numbers.hpp"

namespace backplane::ppo {

rl::SavedShape ShapeOf(const Net& net) {
  const bool tanh = net.actor.activation == Activation::kTanh;
  const uint64_t kind = (net.discrete ? 1u : 0u) | (tanh ? 2u : 0u) | (net.shared ? 4u : 0u) | (net.sde ? 8u : 0u) |
                        (net.carry() > 0 ? 16u : 0u) | (net.action.is_plain() ? 0u : 32u) | (net.sees() ? 64u : 0u);
  rl::SavedShape shape = {.magic = 0x324F50502D5042,  // "BP-PPO2"
                          .format = "learner.ppo, format 2",
                          .numbers = {{kind,
                                       "the kind of net (1 discrete, 2 tanh, 4 share_layers, 8 use_sde, 16 memory, 32 several "
                                       "actions, 64 images, added up)"},
                                      {static_cast<uint64_t>(net.obs), "observation size"},
                                      {static_cast<uint64_t>(net.actions), "number of actions"}},
                          .hidden = rl::SizesOf(net.actor.hidden),
                          .critic = rl::SizesOf(net.critic.hidden)};
  if (net.carry() > 0) shape.numbers.push_back({static_cast<uint64_t>(net.actor.memory.size), "size of the memory"});
  if (net.sees()) shape.numbers.push_back({net.visions.size(), "number of images"});
  for (const Vision& vision : net.visions) {
    shape.numbers.push_back({static_cast<uint64_t>(vision.image.height), "height of an image"});
    shape.numbers.push_back({static_cast<uint64_t>(vision.image.width), "width of an image"});
    shape.numbers.push_back({static_cast<uint64_t>(vision.image.channels), "channels of an image"});
    shape.numbers.push_back({vision.image.planar ? 1u : 0u, "layout of an image (1: channels first)"});
  }
  if (net.action.is_plain()) return shape;
  shape.numbers.push_back({net.action.each.size(), "number of distributions"});
  for (const Distribution& part : net.action.each) {
    shape.numbers.push_back({static_cast<uint64_t>(part.kind), "kind of a distribution (0 numbers, 1 choice, 2 bits)"});
    shape.numbers.push_back({static_cast<uint64_t>(part.n), "outputs of a distribution"});
  }
  return shape;
}

void WriteState(const bp::Writer& writer, const rl::SavedShape& shape, const Optimizer<float>& optimizer,
                const ObsNormalizer& obs_norm, const RewardNormalizer& reward_norm, const Counters& counters) {
  shape.Write(writer);
  optimizer.Save(writer);
  obs_norm.Save(writer);
  reward_norm.Save(writer);
  writer.Put(counters.adaptive_lr);
  writer.Put(counters.epochs_done);
  writer.Put(counters.version);
}

void ReadState(const bp::Reader& reader, const rl::SavedShape& shape, Optimizer<float>* optimizer, ObsNormalizer* obs_norm,
               RewardNormalizer* reward_norm, Counters* counters) {
  shape.Expect(reader);
  optimizer->Load(reader);
  obs_norm->Load(reader);
  reward_norm->Load(reader);
  counters->adaptive_lr = reader.Get<double>();
  counters->epochs_done = reader.Get<uint64_t>();
  counters->version = reader.Get<uint64_t>();
  rl::NeedSavedFromZero(&counters->adaptive_lr, 1, "a learning rate");
}

}  // namespace backplane::ppo
