#include "trial/speed.hpp"

#include <utility>

namespace backplane {

void TrialSpeed::Add(const OpenIteration& iteration) {
  if (!std::exchange(warm_, true)) return first_.Add(iteration);
  steady_.Add(iteration);
  if (iteration.steps > 0) measuring_.Add(static_cast<double>(iteration.steps) / iteration.seconds());
}

void TrialSpeed::AddTo(LoopResult* result, double attempt_s) const {
  const Sum& sum = steady_.steps == 0 ? first_ : steady_;
  const auto rate = [&](double seconds) {
    return seconds > 0 ? std::optional(static_cast<double>(sum.steps) / seconds) : std::nullopt;
  };
  result->sps = rate(sum.seconds);
  result->sampling_sps = rate(sum.collecting_s);
  result->precision = measuring_.Reached(attempt_s);
}

}  // namespace backplane
