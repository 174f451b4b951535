// Converts a rollout into samples with advantages and returns.
#include <algorithm>

#include "learner.hpp"
#include "on_policy/gae.hpp"
#include "rl/finite.hpp"

namespace backplane::ppo {

uint64_t Learner::OnRollout(const bp::Delivery& delivery) {
  const int64_t steps = delivery.Get<float>("reward").Size(0);
  if (steps == 0) return 0;
  batch_.Take(delivery, static_cast<int64_t>(rows_), obs_norm());
  Advantages(delivery, steps);
  if (options_.normalize_obs) TakeMoments(delivery, steps);
  adaptive_rate_.BeginUpdate();
  return Ticks();
}

// The host's moments belong to the first OBS channel, so this computes the moments of several.
void Learner::TakeMoments(const bp::Delivery& delivery, int64_t steps) {
  if (obs_channels_.size() == 1) {
    const rl::ObsMoments seen = rl::FiniteMoments(delivery, net_.obs, obs_channels_[0].name, "in the rollout");
    moments_ = {seen.count, {seen.mean, seen.mean + net_.obs}, {seen.m2, seen.m2 + net_.obs}};
    return;
  }
  const Observed seen = ObservedIn(delivery, obs_channels_);
  moments_ = {0, std::vector<double>(net_.obs), std::vector<double>(net_.obs)};
  for (int64_t i = 0; i < steps * static_cast<int64_t>(rows_); ++i)
    moments_.Add(seen.At(i / static_cast<int64_t>(rows_), i % static_cast<int64_t>(rows_)));
  int64_t first = 0;
  for (const ObsChannel& each : obs_channels_) {
    if (each.image) continue;
    rl::NeedFiniteMoments({moments_.count, &moments_.mean[first], &moments_.m2[first]}, each.size, each.name, "in the rollout");
    first += each.size;
  }
}

// V of each step's successor: the next entry's value, the value of OBS[T] for the last step, and the value of the final
// observation if an episode was cut. Terminated episodes get it too, but their discount is 0. A memory is the one before that
// observation: `act` of the next rollout gets the same for OBS[T].
std::vector<float> Learner::NextValues(const bp::Delivery& delivery, int64_t steps) {
  const auto rows = static_cast<int64_t>(rows_);
  const Samples& samples = batch_.samples();
  const bp_tensor* index_tensor = delivery.Find("final_index");
  const int64_t ended = index_tensor ? index_tensor->shape[0] : 0;
  std::vector<float> obs((rows + ended) * net_.obs), carry((rows + ended) * net_.carry()), values(rows + ended);
  const auto put = [&](int64_t place, const Observed& seen, auto... index) {
    float* to = obs.data() + place * net_.obs;
    const float* from = seen.At(index...);
    options_.normalize_obs ? obs_norm_.Apply(from, to) : (void)std::copy_n(from, net_.obs, to);
  };
  const Observed seen = ObservedIn(delivery, obs_channels_);
  for (int64_t row = 0; row < rows; ++row) put(row, seen, steps, row);
  Observed last;
  if (ended > 0) {
    last = ObservedIn(delivery, obs_channels_, /*last=*/true);
    for (int64_t e = 0; e < ended; ++e) put(rows + e, last, e);
  }
  if (net_.carry() > 0) {
    const auto keep = [&](int64_t place, const float* from) { std::copy_n(from, net_.carry(), &carry[place * net_.carry()]); };
    for (int64_t row = 0; row < rows; ++row) keep(row, delivery.Get<float>("memory").At(steps, row));
    for (int64_t e = 0; e < ended; ++e) keep(rows + e, delivery.Get<float>("final_memory").At(e));
  }
  actor_.Values(rows, obs.data(), seen.ImagesOfStep(steps), carry.data(), values.data());
  actor_.Values(ended, obs.data() + rows * net_.obs, last.Images(), carry.data() + rows * net_.carry(), values.data() + rows);

  std::vector<float> next(samples.value.begin() + rows, samples.value.end());
  next.insert(next.end(), values.begin(), values.begin() + rows);
  for (int64_t e = 0; e < ended; ++e) next[*delivery.Get<int64_t>("final_index").At(e)] = values[rows + e];
  return next;
}

void Learner::Advantages(const bp::Delivery& delivery, int64_t steps) {
  const auto rows = static_cast<int64_t>(rows_);
  const auto reward = delivery.Get<float>("reward");
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  Samples& samples = batch_.samples();
  std::vector<float> rewards(samples.n);
  std::vector<uint8_t> done(samples.n);
  std::vector<double> discount(samples.n), carry(samples.n);
  for (int64_t i = 0; i < samples.n; ++i) {
    const int64_t t = i / rows, row = i % rows;
    rewards[i] = *reward.At(t, row);
    done[i] = *terminated.At(t, row) || *truncated.At(t, row);
    const bool over = *terminated.At(t, row) || (!options_.bootstrap_truncated && *truncated.At(t, row));
    discount[i] = over ? 0.0 : options_.gamma;
    carry[i] = done[i] ? 0.0 : options_.gamma * options_.lambda;
  }
  if (options_.normalize_rewards) {
    for (int64_t t = 0; t < steps; ++t) reward_norm_.Step(&rewards[t * rows], &done[t * rows]);
  }
  const std::vector<float> next = NextValues(delivery, steps);
  for (int64_t row = 0; row < rows; ++row) {
    const GaeStream<float> stream{steps, rows, &rewards[row], &samples.value[row], &next[row], &discount[row], &carry[row]};
    Gae(stream, &samples.advantage[row]);
  }
  for (int64_t i = 0; i < samples.n; ++i) samples.ret[i] = samples.advantage[i] + samples.value[i];
}

}  // namespace backplane::ppo
