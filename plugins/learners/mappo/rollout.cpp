// Turning a rollout into samples with advantages and returns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learner.hpp"

namespace backplane::mappo {

uint64_t Learner::OnRollout(const bp::Delivery& delivery) {
  {
    const bp::PhaseScope phase(host(), "batch_build");
    streams_.Read(delivery);
    batch_.Take(delivery, streams_);
  }
  const Samples& samples = batch_.samples();
  const int64_t places = streams_.steps() * streams_.agents();
  if (places == 0) return 0;
  metrics_.Record("train/alive_share", static_cast<double>(samples.n) / static_cast<double>(places), nullptr, 0,
                  "share of the agents' steps in which the agent was alive");
  if (samples.n == 0) return 0;
  Returns(delivery);
  gradient_->Take(samples);
  return static_cast<uint64_t>(options_.num_epochs * Minibatches());
}

// Values of what followed the streams' last steps: observations and states that no sample holds.
std::vector<float> Learner::BootstrapValues(const bp::Delivery& delivery) {
  const auto obs = delivery.Get<float>(shape_.obs.c_str());
  bp::View<const float> state, final_obs, final_state;
  if (delivery.Find("final_obs")) final_obs = delivery.Get<float>("final_obs");
  if (net_.state > 0) state = delivery.Get<float>(shape_.state.c_str());
  if (net_.state > 0 && delivery.Find("final_state")) final_state = delivery.Get<float>("final_state");
  nn::SparseRows seen, states;
  seen.Reset(net_.obs), states.Reset(net_.state);
  std::vector<int32_t> step_of;
  int64_t last = -1;  // row and step of the state taken last
  for (const Streams::Bootstrap& b : streams_.bootstraps()) {
    const int64_t agent = b.place % streams_.agents(), row = agent / shape_.agents, of_row = agent % shape_.agents;
    const bool final = b.final >= 0;
    seen.Append(final ? final_obs.At(b.final * shape_.agents + of_row) : obs.At(streams_.steps(), agent));
    const int64_t step = b.place / streams_.agents() * static_cast<int64_t>(rows_) + row;
    if (step != last && net_.state > 0) states.Append(final ? final_state.At(b.final) : state.At(streams_.steps(), row));
    last = step;
    step_of.push_back(static_cast<int32_t>(states.rows()) - 1);
  }
  std::vector<float> values(streams_.bootstraps().size());
  critic_.Values({&seen, net_.state > 0 ? &states : nullptr, step_of}, values.data());
  return values;
}

void Learner::Returns(const bp::Delivery& delivery) {
  Samples& s = batch_.samples();
  const bp::PhaseScope phase(host(), "update_forward");
  critic_.Refresh(optimizer_.params());
  critic_.Values(s.inputs(net_), s.value.data());
  std::vector<float> bootstrap = BootstrapValues(delivery);
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
