#include "trial/speed.hpp"

#include <utility>

#include "record/fields.hpp"

namespace backplane {

void TrialSpeed::Add(const OpenIteration& iteration) {
  if (!std::exchange(warm_, true)) return first_.Add(iteration);
  steady_.Add(iteration);
  if (iteration.steps > 0) measuring_.Add(static_cast<double>(iteration.steps) / iteration.seconds());
}

void TrialSpeed::AddTo(nlohmann::json* result, double attempt_s) const {
  const Sum& sum = steady_.steps == 0 ? first_ : steady_;
  const auto rate = [&](double seconds) {
    return seconds > 0 ? nlohmann::json(static_cast<double>(sum.steps) / seconds) : nlohmann::json(nullptr);
  };
  (*result)["sps"] = rate(sum.seconds);
  (*result)["sampling_sps"] = rate(sum.collecting_s);
  if (const auto precision = measuring_.Reached(attempt_s)) (*result)["precision"] = ToJson(*precision);
}

}  // namespace backplane
