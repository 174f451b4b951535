// Gain of a change: a ratio of speeds, and its significance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "statistics/difference.hpp"
#include "statistics/log_speed.hpp"
#include "statistics/welch_verdict.hpp"

namespace backplane {

// The speeds of both sides, one per trial, all above zero. An unmeasured side is empty.
struct Speeds {
  std::vector<double> before, after;
};

struct Gain {
  double ratio = 1;  // of the geometric means; above 1 is better, also for measures where less is better
  std::optional<statistics::Interval> interval;  // 95 %; absent: the trials are too few, or none differ

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("ratio", self.ratio);
    const auto low = self.interval ? std::optional(self.interval->low) : std::nullopt;
    const auto high = self.interval ? std::optional(self.interval->high) : std::nullopt;
    visit("low", NullIfAbsent(low));
    visit("high", NullIfAbsent(high));
  }

  bool IsShown() const { return interval && interval->low > 1; }
  bool IsShownLost() const { return interval && interval->high < 1; }
};

// Gain of the last measurement, in which both sides have a speed. All measurements of a tuning share one spread, because the
// machine moves the speeds of all settings alike. `direction` 1: up is better, -1: down.
Gain LastGain(const std::vector<Speeds>& measurements, int direction);

// Tests if a setting learns worse than another, by independent scores of each.
struct Learned {
  statistics::Verdict verdict = statistics::Verdict::kOne;  // of the tuned scores against the original ones, as they stand
  std::optional<statistics::Difference> difference;         // tuned less original; absent: too few, or none differ
  bool is_worse = false;  // significantly worse in the measure's direction, or a tuned seed did not finish
};
Learned CompareLearning(const std::vector<double>& original, const std::vector<double>& tuned, int direction);

}  // namespace backplane
