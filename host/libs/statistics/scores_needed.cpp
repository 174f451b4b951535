#include "statistics/scores_needed.hpp"

#include <cmath>

#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

constexpr double kMost = 1e6;

}  // namespace

std::optional<size_t> ScoresNeeded(const Difference& seen, size_t n, double alpha) {
  const double error = seen.standard_error;
  if (seen.value == 0 || !(error > 0)) return std::nullopt;
  const double z = StudentQuantile(1 - alpha / 2, kNormal) + StudentQuantile(kPower, kNormal);
  const double needed = static_cast<double>(n) * z * z * error * error / (seen.value * seen.value);
  return needed < kMost ? std::optional(static_cast<size_t>(std::ceil(needed)) + 1) : std::nullopt;
}

}  // namespace backplane::statistics
