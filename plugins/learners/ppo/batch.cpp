#include "batch.hpp"

#include <algorithm>

#include "rl/observations.hpp"

namespace backplane::ppo {

Batch::Batch(const Net& net, const EnvShape& shape, int64_t sequence)
    : obs_(net.obs),
      actions_(net.actions),
      carry_(net.carry()),
      sequence_(sequence),
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
  if (carry_ > 0) TakeSequences(delivery, rows);
}

// Cuts each row into sequences, the last of which may be shorter.
void Batch::TakeSequences(const bp::Delivery& delivery, int64_t rows) {
  const auto carry = delivery.Get<float>("memory");
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  const int64_t steps = all_.n / rows;
  sequences_.Clear(sequence_);
  sequences_.fresh.assign(all_.n, 0);
  first_carries_.clear();
  for (int64_t begin = 0; begin < steps; begin += sequence_) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t t = begin; t < std::min(begin + sequence_, steps); ++t) {
        sequences_.samples.push_back(t * rows + row);
        if (t > 0) sequences_.fresh[t * rows + row] = *terminated.At(t - 1, row) || *truncated.At(t - 1, row);
      }
      sequences_.End();
      const float* const first = carry.At(begin, row);
      first_carries_.insert(first_carries_.end(), first, first + carry_);
    }
  }
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) { shuffler_.Shuffle(key, ordered(), parallel, &order_); }

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

Minibatch<float> Batch::Select(int64_t begin, int64_t end) {
  if (carry_ > 0) {
    blocks_.Pack(sequences_, std::span(order_).subspan(begin, end - begin));
    Minibatch<float> some = View(all_, blocks_.n());
    some.index = blocks_.index(), some.blocks = &blocks_, some.carry = first_carries_.data();
    return some;
  }
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
