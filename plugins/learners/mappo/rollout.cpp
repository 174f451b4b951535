// Turning a rollout into samples with advantages and returns.
#include <cmath>

#include "learner.hpp"

namespace backplane::mappo {

uint64_t Learner::OnRollout(const bp::Delivery& delivery) {
  int64_t places = 0, samples = 0;
  {
    const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
    for (Group& group : groups_) {
      const bp::Delivery on_host = group.torch_model ? group.torch_model->OnHost(delivery) : delivery;
      group.streams.Read(on_host);
      group.batch.Take(on_host, group.streams);
      places += group.streams.steps() * group.streams.agents();
      samples += group.batch.samples().n;
    }
  }
  if (places == 0) return 0;
  metrics_.Record("train/alive_share", static_cast<double>(samples) / static_cast<double>(places));
  for (Group& group : groups_) {
    if (group.batch.samples().n == 0) continue;
    {
      const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
      group.model->Take(delivery, group.streams, group.batch.samples());
    }
    Returns(&group);
    if (!has_groups()) continue;
    const double reward = group.streams.earned() / static_cast<double>(group.batch.samples().n);
    metrics_.Record(("train/reward/" + group.shape.group).c_str(), reward);
  }
  return samples > 0 ? Ticks() : 0;
}

void Learner::Returns(Group* group) {
  Samples& s = group->batch.samples();
  const Streams& streams = group->streams;
  const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_FORWARD);
  std::vector<float> bootstrap(streams.bootstraps().size());
  group->model->Values(optimizer_.params() + group->offset, s.value.data(), bootstrap.data());
  const auto as_return = [&](float value) { return options_.value_norm ? group->value_norm.Denormalize(value) : value; };
  for (float& value : bootstrap) value = as_return(value);
  const int64_t places = streams.steps() * streams.agents();
  std::vector<float> value(places), advantage(places);
  for (int64_t i = 0; i < s.n; ++i) value[s.place[i]] = as_return(s.value[i]);
  streams.Advantages(value.data(), bootstrap.data(), advantage.data());
  for (int64_t i = 0; i < s.n; ++i) {
    s.advantage[i] = advantage[s.place[i]];
    s.ret[i] = s.advantage[i] + value[s.place[i]];
  }
  group->advantage_scaling = {};
  if (options_.normalize_advantages != Normalize::kIteration) return;
  // As on-policy: the population's deviation, + 1e-5.
  double mean = 0, squares = 0;
  for (float a : s.advantage) mean += a / static_cast<double>(s.n);
  for (float a : s.advantage) squares += (a - mean) * (a - mean);
  group->advantage_scaling = {mean, 1 / (std::sqrt(squares / static_cast<double>(s.n)) + 1e-5)};
}

}  // namespace backplane::mappo
