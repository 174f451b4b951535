// Saving and loading: mean weights, observation statistics, the key of the random streams, Adam. Fixed order and no padding, so
// the same state gives the same bytes.
#include "learner.hpp"

namespace backplane::ars {
namespace {

constexpr uint64_t kMagic = 0x315352412D5042;  // "BP-ARS1"

}  // namespace

uint64_t Learner::Kind() const {
  const PolicyShape& shape = policy_.shape();
  return (discrete_ ? 1u : 0u) | (options_.normalize_obs ? 2u : 0u) | (shape.bias ? 4u : 0u) |
         (shape.activation == nn::Activation::kTanh && !shape.hidden.empty() ? 8u : 0u) | (options_.squash ? 16u : 0u) |
         (options_.adam ? 32u : 0u);
}

void Learner::Save(const bp::Writer& writer) const {
  const PolicyShape& shape = policy_.shape();
  writer.Put(kMagic);
  writer.Put(Kind());
  writer.Put(static_cast<uint64_t>(shape.obs));
  writer.Put(static_cast<uint64_t>(shape.outputs));
  writer.Put(static_cast<uint64_t>(shape.hidden.size()));
  for (int64_t size : shape.hidden) writer.Put(static_cast<uint64_t>(size));
  writer.PutAll(mean_.data(), mean_.size());
  if (options_.normalize_obs) filter_.Save(writer);
  writer.Put(seed_);
  writer.Put(iteration_);
  if (!options_.adam) return;
  writer.PutAll(adam_m_.data(), adam_m_.size());
  writer.PutAll(adam_v_.data(), adam_v_.size());
  writer.Put(adam_steps_);
}

void Learner::Load(const bp::Reader& reader) {
  const PolicyShape& shape = policy_.shape();
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.ars, format 1");
  reader.Expect(Kind(),
                "the kind of policy (1 discrete, 2 normalize_obs, 4 bias, 8 tanh, 16 squash_output, 32 adam, added up)");
  reader.Expect(static_cast<uint64_t>(shape.obs), "observation size");
  reader.Expect(static_cast<uint64_t>(shape.outputs), "number of actions");
  reader.Expect(shape.hidden.size(), "number of hidden layers");
  for (int64_t size : shape.hidden) reader.Expect(static_cast<uint64_t>(size), "hidden layer");
  reader.GetAll(mean_.data(), mean_.size(), "weights");
  if (options_.normalize_obs) filter_.Load(reader);
  seed_ = reader.Get<uint64_t>();
  iteration_ = reader.Get<uint64_t>();
  if (options_.adam) {
    reader.GetAll(adam_m_.data(), adam_m_.size(), "first moments of Adam");
    reader.GetAll(adam_v_.data(), adam_v_.size(), "second moments of Adam");
    adam_steps_ = reader.Get<int64_t>();
  }
  Refresh();
}

}  // namespace backplane::ars
