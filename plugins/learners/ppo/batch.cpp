#include "batch.hpp"

#include <algorithm>

#include "on_policy/parts.hpp"

namespace backplane::ppo {

Batch::Batch(const Net& net, const EnvShape& shape)
    : obs_(net.obs),
      actions_(net.actions),
      discrete_(net.discrete),
      obs_name_(shape.obs_name),
      action_name_(shape.action_name),
      mask_name_(shape.mask_name) {}

void Batch::Resize(int64_t n, Samples* s) const {
  s->n = n;
  s->obs.resize(n * obs_);
  for (auto* each : {&s->logp, &s->advantage, &s->ret, &s->value}) each->resize(n);
  if (!discrete_) s->action.resize(n * actions_);
  if (discrete_) s->choice.resize(n);
  if (!mask_name_.empty()) s->mask.resize(n * actions_);
}

void Batch::Take(const bp::Delivery& delivery, int64_t rows, const ObsNormalizer* obs_norm) {
  const auto obs = delivery.Get<float>(obs_name_.c_str()), logp = delivery.Get<float>("logp"),
             value = delivery.Get<float>("value");
  bp::View<const float> raw;
  bp::View<const int32_t> choice;
  bp::View<const uint8_t> mask;
  if (!discrete_) raw = delivery.Get<float>("raw_action");
  if (discrete_) choice = delivery.Get<int32_t>(action_name_.c_str());
  if (!mask_name_.empty()) mask = delivery.Get<uint8_t>(mask_name_.c_str());
  Resize(logp.Size(0) * rows, &all_);
  for (int64_t i = 0; i < all_.n; ++i) {
    const int64_t t = i / rows, row = i % rows;
    float* to = &all_.obs[i * obs_];
    obs_norm ? obs_norm->Apply(obs.At(t, row), to) : (void)std::copy_n(obs.At(t, row), obs_, to);
    all_.logp[i] = *logp.At(t, row), all_.value[i] = *value.At(t, row);
    if (choice) all_.choice[i] = *choice.At(t, row);
    if (mask) std::copy_n(mask.At(t, row), actions_, &all_.mask[i * actions_]);
    if (raw) std::copy_n(raw.At(t, row), actions_, &all_.action[i * actions_]);
  }
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) { shuffler_.Shuffle(key, all_.n, parallel, &order_); }

// Samples [from, to) of the minibatch that begins at `begin` of the order.
void Batch::Copy(int64_t begin, int64_t from, int64_t to) {
  Samples& m = part_;
  for (int64_t i = from; i < to; ++i) {
    const int64_t k = order_[begin + i];
    std::copy_n(&all_.obs[k * obs_], obs_, &m.obs[i * obs_]);
    if (!discrete_) std::copy_n(&all_.action[k * actions_], actions_, &m.action[i * actions_]);
    if (discrete_) m.choice[i] = all_.choice[k];
    if (!mask_name_.empty()) std::copy_n(&all_.mask[k * actions_], actions_, &m.mask[i * actions_]);
    m.logp[i] = all_.logp[k], m.advantage[i] = all_.advantage[k], m.ret[i] = all_.ret[k], m.value[i] = all_.value[k];
  }
}

Minibatch<float> Batch::Gather(int64_t begin, int64_t end, const Parallel& parallel) {
  constexpr int64_t kSamples = 64;  // are worth a hand-over to another thread
  Samples& m = part_;
  Resize(end - begin, &m);
  const int64_t parts = PartsOfAtMost(kSamples, m.n);
  parallel(static_cast<uint64_t>(parts), [&](uint64_t i) {
    const Part part = PartOf(m.n, parts, static_cast<int64_t>(i));
    Copy(begin, part.begin, part.end);
  });
  const auto data = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
  return {m.n,           m.obs.data(),       data(m.action), data(m.choice), data(m.mask),
          m.logp.data(), m.advantage.data(), m.ret.data(),   m.value.data()};
}

}  // namespace backplane::ppo
