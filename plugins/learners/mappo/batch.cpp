#include "batch.hpp"

#include <algorithm>

namespace backplane::mappo {

Batch::Batch(const EnvShape& shape, const MemoryOptions& memory)
    : actions_(shape.actions),
      action_(shape.distributions),
      mask_name_(shape.mask),
      logp_name_(shape.Own("logp")),
      raw_name_(shape.Own("raw_action")),
      memory_name_(shape.Own("memory")),
      agents_(shape.agents),
      memory_(memory) {}

void Batch::Take(const bp::Delivery& delivery, const Streams& streams) {
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
  for (auto* each : {&s.advantage, &s.ret, &s.value}) each->resize(s.n);
  TakeActions(delivery, streams.agents());
  if (memory_.size > 0) TakeSequences(delivery, streams);
}

void Batch::TakeActions(const bp::Delivery& delivery, int64_t agents) {
  Samples& s = all_;
  const auto take = [&](const auto& view, int64_t width, int64_t elements, int64_t first, auto* to) {
    to->resize(s.n * width);
    for (int64_t i = 0; i < s.n; ++i)
      std::copy_n(view.At(s.place[i] / agents, s.place[i] % agents), elements, to->data() + i * width + first);
  };
  take(delivery.Get<float>(logp_name_.c_str()), 1, 1, 0, &s.logp);
  if (!mask_name_.empty()) take(delivery.Get<uint8_t>(mask_name_.c_str()), action_.flags, action_.flags, 0, &s.mask);
  if (action_.numbers > 0) take(delivery.Get<float>(raw_name_.c_str()), action_.numbers, action_.numbers, 0, &s.numbers);
  ForChoices(delivery, actions_, [&](const auto& view, int64_t elements, int64_t first) {
    take(view, action_.choices, elements, first, &s.choice);
  });
}

// A sequence has the steps of a run in which the agent lives. The memory of an agent that does not live stays as it is.
void Batch::TakeSequences(const bp::Delivery& delivery, const Streams& streams) {
  const auto carry = delivery.Get<float>(memory_name_.c_str());
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  const int64_t agents = streams.agents();
  std::vector<int32_t> sample_at(streams.steps() * agents, -1);
  for (int64_t i = 0; i < all_.n; ++i) sample_at[all_.place[i]] = static_cast<int32_t>(i);
  sequences_.Clear(memory_.sequence);
  sequences_.fresh.assign(all_.n, 0);
  step_starts_.clear(), first_carries_.clear();
  for (int64_t begin = 0; begin < streams.steps(); begin += memory_.sequence) {
    const int64_t end = std::min(begin + memory_.sequence, streams.steps());
    for (int64_t agent = 0; agent < agents; ++agent) {
      const int64_t row = agent / agents_, first = static_cast<int64_t>(sequences_.samples.size());
      if (agent % agents_ == 0) step_starts_.push_back(static_cast<int32_t>(sequences_.n()));
      bool restarted = false;
      for (int64_t t = begin; t < end; ++t) {
        restarted = restarted || (t > begin && (*terminated.At(t - 1, row) || *truncated.At(t - 1, row)));
        const int32_t sample = sample_at[t * agents + agent];
        if (sample < 0) continue;
        const bool starts = static_cast<int64_t>(sequences_.samples.size()) == first;
        const float* const before = carry.At(t, agent);
        if (starts) first_carries_.insert(first_carries_.end(), before, before + memory_.size);
        sequences_.fresh[sample] = restarted && !starts, restarted = false;
        sequences_.samples.push_back(sample);
      }
      if (static_cast<int64_t>(sequences_.samples.size()) > first) sequences_.End();
    }
  }
  step_starts_.push_back(static_cast<int32_t>(sequences_.n()));
}

void Batch::Shuffle(uint64_t key, const Parallel& parallel) {
  shuffler_.Shuffle(key, static_cast<int64_t>(step_starts_.size()) - 1, parallel, &steps_);
  order_.clear();
  for (int32_t step : steps_) {
    for (int32_t i = step_starts_[step]; i < step_starts_[step + 1]; ++i) order_.push_back(i);
  }
}

Minibatch Batch::Select(int64_t begin, int64_t end) {
  const std::span<const int32_t> some = Order(begin, end);
  if (memory_.size == 0) return {all_, some, {}, {}};
  numbers_.assign(some.begin(), some.end());
  blocks_.Pack(sequences_, numbers_);
  index_.assign(blocks_.index(), blocks_.index() + blocks_.n());
  return {all_, index_, {}, {}, &blocks_, first_carries_.data()};
}

}  // namespace backplane::mappo
