#include "kinds/goal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/format_number.hpp"

namespace backplane {

using statistics::Arrival;
using statistics::Arrivals;

Arrivals ArrivalsOf(const std::vector<double>& steps, const std::vector<char>& reached) {
  Arrivals arm;
  for (size_t i = 0; i < steps.size(); ++i) arm.push_back({steps[i], i < reached.size() && reached[i] != 0});
  return arm;
}

Number MeanSteps(const Arrivals& arm, double horizon) {
  const statistics::RestrictedMean mean = statistics::MeanUpTo(arm, horizon);
  const double n = static_cast<double>(mean.n);
  Number number = MeanOf(mean.value, mean.n > 1 ? std::optional(mean.standard_error * std::sqrt(n)) : std::nullopt, mean.n,
                         mean.n > 1 ? "seeds" : "");
  number.is_time = true;
  if (number.low) number.low = std::max(*number.low, 0.0);
  return number;
}

std::string NeverReached(const std::vector<Arrivals>& arms) {
  size_t never = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Arrivals& arm : arms) {
    for (const Arrival& one : arm) {
      if (one.reached) continue;
      ++never;
      least = std::min(least, one.time);
    }
  }
  return never == 0 ? "" : fmt::format("; {} never reached it within {}", never, FormatNumber(Reading(least), 4));
}

}  // namespace backplane
