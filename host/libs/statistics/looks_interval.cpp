#include "statistics/looks_interval.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

constexpr size_t kGrid = 61;   // points of the integral, odd for Simpson's rule
constexpr int kHalvings = 16;  // of a bracket that is less than two wide

double Density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

double Weight(size_t i, double step) { return step / 3 * (i == 0 || i == kGrid - 1 ? 1 : i % 2 == 1 ? 4 : 2); }

// The probability that a sum of `looks` normal numbers exceeds +-bound * sqrt(look) at any look (Armitage, McPherson and Rowe,
// 1969).
double EverBeyond(size_t looks, double bound) {
  std::vector<double> at, density;
  double stays = 1;
  for (size_t look = 1; look <= looks; ++look) {
    const double edge = bound * std::sqrt(static_cast<double>(look)), step = 2 * edge / (kGrid - 1);
    std::vector<double> next_at(kGrid), next(kGrid, 0);
    stays = 0;
    for (size_t i = 0; i < kGrid; ++i) {
      next_at[i] = -edge + static_cast<double>(i) * step;
      if (look == 1) next[i] = Density(next_at[i]);
      const double last_step = at.empty() ? 0 : at[1] - at[0];
      for (size_t j = 0; j < at.size(); ++j) next[i] += Weight(j, last_step) * density[j] * Density(next_at[i] - at[j]);
      stays += Weight(i, step) * next[i];
    }
    at = std::move(next_at);
    density = std::move(next);
  }
  return 1 - stays;
}

}  // namespace

double ShareOfALook(size_t looks, double alpha) {
  if (looks <= 1) return alpha;
  // Between the bound of a single look and Bonferroni's.
  double low = StudentQuantile(1 - alpha / 2, kNormal);
  double high = StudentQuantile(1 - alpha / (2 * static_cast<double>(looks)), kNormal);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (EverBeyond(looks, middle) > alpha ? low : high) = middle;
  }
  return StudentTwoSided(high, kNormal);
}

Interval IntervalAt(const Difference& difference, double share) {
  const double half = StudentQuantile(1 - share / 2, difference.degrees_of_freedom) * difference.standard_error;
  return {difference.value - half, difference.value + half};
}

}  // namespace backplane::statistics
