#include "trial/speed.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "statistics/log_speed.hpp"

namespace backplane {

Measuring::Measuring(const ReportConfig& report, uint64_t seeds)
    : precision_pct_(report.precision_pct),
      max_seconds_(report.max_time_s.value_or(std::numeric_limits<double>::infinity()) / static_cast<double>(seeds)) {}

std::optional<double> Measuring::HalfWidthPct() const {
  return speeds_.size() < kLeastIterations ? std::nullopt : statistics::HalfWidthPct(speeds_);
}

bool Measuring::IsPrecise() const {
  const std::optional<double> width_pct = HalfWidthPct();
  return width_pct && *width_pct <= *precision_pct_;
}

bool Measuring::Ended(double seconds) const {
  return precision_pct_ && !speeds_.empty() && (seconds >= max_seconds_ || IsPrecise());
}

double Measuring::Progress(double seconds) const { return precision_pct_ ? std::clamp(seconds / max_seconds_, 0.0, 1.0) : 0; }

std::optional<ReachedPrecision> Measuring::Reached(double seconds) const {
  if (!precision_pct_) return std::nullopt;
  return ReachedPrecision{*precision_pct_, HalfWidthPct(), speeds_.size(), seconds, IsPrecise()};
}

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
