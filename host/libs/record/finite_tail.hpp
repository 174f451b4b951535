// Follows the values of one metric and detects divergence: the last values are not finite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace backplane {

class FiniteTail {
 public:
  // The last tenth of this many values, at least 3. There may be fewer values.
  static constexpr uint64_t Window(uint64_t values) { return std::max<uint64_t>(3, values / 10); }

  void Add(double value) {
    ++values_;
    if (std::isfinite(value)) last_finite_ = values_;
  }

  uint64_t values() const { return values_; }
  bool was_finite() const { return last_finite_ > 0; }
  // A metric that never was finite has no value, and has not diverged. A script may log NaN before its first episode ends.
  bool diverged() const { return was_finite() && values_ - last_finite_ >= Window(values_); }
  bool has_value() const { return was_finite() && !diverged(); }

 private:
  uint64_t values_ = 0, last_finite_ = 0;  // the latter counts from 1; 0: none was finite
};

// The last finite value of a metric, as long as it has not diverged.
class LastFinite {
 public:
  void Add(double value) {
    tail_.Add(value);
    if (std::isfinite(value)) last_ = value;
  }
  // NaN: the metric diverged. Absent: it never was finite.
  std::optional<double> value() const {
    if (!tail_.was_finite()) return std::nullopt;
    return tail_.diverged() ? std::numeric_limits<double>::quiet_NaN() : last_;
  }

 private:
  FiniteTail tail_;
  double last_ = 0;
};

}  // namespace backplane
