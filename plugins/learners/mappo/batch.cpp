#include "batch.hpp"

#include <algorithm>

namespace backplane::mappo {

Batch::Batch(const EnvShape& shape)
    : action_name_(shape.action), mask_name_(shape.mask), agents_(shape.agents), actions_(shape.actions) {}

void Batch::Take(const bp::Delivery& delivery, const Streams& streams) {
  const auto logp = delivery.Get<float>("logp");
  const auto choice = delivery.Get<int32_t>(action_name_.c_str());
  bp::View<const uint8_t> mask;
  if (!mask_name_.empty()) mask = delivery.Get<uint8_t>(mask_name_.c_str());
  Samples& s = all_;
  s.place.clear(), s.step_of.clear(), s.env_step.clear(), step_starts_.clear();
  for (int64_t place = 0; place < streams.steps() * streams.agents(); ++place) {
    if (!streams.alive(place)) continue;
    if (s.env_step.empty() || s.env_step.back() != place / agents_) {
      s.env_step.push_back(place / agents_);
      step_starts_.push_back(static_cast<int32_t>(s.place.size()));
    }
    s.step_of.push_back(static_cast<int32_t>(s.env_step.size()) - 1);
    s.place.push_back(place);
  }
  s.n = static_cast<int64_t>(s.place.size());
  step_starts_.push_back(static_cast<int32_t>(s.n));
  for (auto* each : {&s.logp, &s.advantage, &s.ret, &s.value}) each->resize(s.n);
  s.choice.resize(s.n);
  if (mask) s.mask.resize(s.n * actions_);
  for (int64_t i = 0; i < s.n; ++i) {
    const int64_t t = s.place[i] / streams.agents(), agent = s.place[i] % streams.agents();
    s.choice[i] = *choice.At(t, agent), s.logp[i] = *logp.At(t, agent);
    if (mask) std::copy_n(mask.At(t, agent), actions_, &s.mask[i * actions_]);
  }
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) {
  shuffler_.Shuffle(key, static_cast<int64_t>(step_starts_.size()) - 1, parallel, &steps_);
  order_.clear();
  for (int32_t step : steps_) {
    for (int32_t i = step_starts_[step]; i < step_starts_[step + 1]; ++i) order_.push_back(i);
  }
}

}  // namespace backplane::mappo
