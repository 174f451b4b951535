// Turning a rollout into samples with advantages and returns.
#include <cmath>

#include "learner.hpp"

namespace backplane::mappo {

uint64_t Learner::OnRollout(const bp::Delivery& delivery) {
  {
    const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
    const bp::Delivery on_host = torch_model_ ? torch_model_->OnHost(delivery) : delivery;
    streams_.Read(on_host);
    batch_.Take(on_host, streams_);
  }
  const Samples& samples = batch_.samples();
  const int64_t places = streams_.steps() * streams_.agents();
  if (places == 0) return 0;
  metrics_.Record("train/alive_share", static_cast<double>(samples.n) / static_cast<double>(places));
  if (samples.n == 0) return 0;
  {
    const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
    model_->Take(delivery, streams_, samples);
  }
  Returns();
  return Ticks();
}

void Learner::Returns() {
  Samples& s = batch_.samples();
  const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_FORWARD);
  std::vector<float> bootstrap(streams_.bootstraps().size());
  model_->Values(optimizer_.params(), s.value.data(), bootstrap.data());
  const auto as_return = [&](float value) { return options_.value_norm ? value_norm_.Denormalize(value) : value; };
  for (float& value : bootstrap) value = as_return(value);
  const int64_t places = streams_.steps() * streams_.agents();
  std::vector<float> value(places), advantage(places);
  for (int64_t i = 0; i < s.n; ++i) value[s.place[i]] = as_return(s.value[i]);
  streams_.Advantages(value.data(), bootstrap.data(), advantage.data());
  for (int64_t i = 0; i < s.n; ++i) {
    s.advantage[i] = advantage[s.place[i]];
    s.ret[i] = s.advantage[i] + value[s.place[i]];
  }
  advantage_scaling_ = {};
  if (options_.normalize_advantages != Normalize::kIteration) return;
  // As on-policy: the population's deviation, + 1e-5.
  double mean = 0, squares = 0;
  for (float a : s.advantage) mean += a / static_cast<double>(s.n);
  for (float a : s.advantage) squares += (a - mean) * (a - mean);
  advantage_scaling_ = {mean, 1 / (std::sqrt(squares / static_cast<double>(s.n)) + 1e-5)};
}

}  // namespace backplane::mappo
