#include "trial/measuring.hpp"

#include <algorithm>
#include <limits>

#include "statistics/log_speed.hpp"

namespace backplane {

Measuring::Measuring(const ReportConfig& report, uint64_t seeds)
    : precision_pct_(report.precision_pct),
      max_seconds_(report.max_time_s.value_or(std::numeric_limits<double>::infinity()) / static_cast<double>(seeds)) {}

std::optional<double> Measuring::HalfWidthPct() const {
  return speeds_.size() < kLeastIterations ? std::nullopt : statistics::HalfWidthPct(speeds_);
}

bool Measuring::IsPrecise() const {
  return HalfWidthPct().value_or(std::numeric_limits<double>::infinity()) <= *precision_pct_;
}

bool Measuring::Ended(double seconds) const {
  return precision_pct_ && !speeds_.empty() && (seconds >= max_seconds_ || IsPrecise());
}

double Measuring::Progress(double seconds) const { return precision_pct_ ? std::clamp(seconds / max_seconds_, 0.0, 1.0) : 0; }

std::optional<ReachedPrecision> Measuring::Reached(double seconds) const {
  if (!precision_pct_) return std::nullopt;
  return ReachedPrecision{*precision_pct_, HalfWidthPct(), speeds_.size(), seconds, IsPrecise()};
}

}  // namespace backplane
