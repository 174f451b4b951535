#include "batch.hpp"

#include <algorithm>

#include "rl/observations.hpp"

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
  const rl::Observations obs(delivery.Find(obs_name_.c_str()), obs_name_.c_str());
  const auto logp = delivery.Get<float>("logp"), value = delivery.Get<float>("value");
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
    const float* from = obs.At(obs_, t, row);
    obs_norm ? obs_norm->Apply(from, to) : (void)std::copy_n(from, obs_, to);
    all_.logp[i] = *logp.At(t, row), all_.value[i] = *value.At(t, row);
    if (choice) all_.choice[i] = *choice.At(t, row);
    if (mask) std::copy_n(mask.At(t, row), actions_, &all_.mask[i * actions_]);
    if (raw) std::copy_n(raw.At(t, row), actions_, &all_.action[i * actions_]);
  }
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) { shuffler_.Shuffle(key, all_.n, parallel, &order_); }

Minibatch<float> Batch::View(const Samples& s, int64_t n) {
  const auto data = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
  return {n,
          s.obs.data(),
          data(s.action),
          data(s.choice),
          data(s.mask),
          s.logp.data(),
          s.advantage.data(),
          s.ret.data(),
          s.value.data()};
}

Minibatch<float> Batch::Select(int64_t begin, int64_t end) const {
  Minibatch<float> some = View(all_, end - begin);
  some.index = order_.data() + begin;
  return some;
}

Minibatch<float> Batch::Gather(int64_t begin, int64_t end) {
  Samples& m = part_;
  Resize(end - begin, &m);
  for (int64_t i = 0; i < m.n; ++i) {
    const int64_t from = order_[begin + i];
    std::copy_n(&all_.obs[from * obs_], obs_, &m.obs[i * obs_]);
    if (!discrete_) std::copy_n(&all_.action[from * actions_], actions_, &m.action[i * actions_]);
    if (discrete_) m.choice[i] = all_.choice[from];
    if (!mask_name_.empty()) std::copy_n(&all_.mask[from * actions_], actions_, &m.mask[i * actions_]);
    m.logp[i] = all_.logp[from], m.advantage[i] = all_.advantage[from], m.ret[i] = all_.ret[from],
    m.value[i] = all_.value[from];
  }
  return View(m, m.n);
}

}  // namespace backplane::ppo
