#include "statistics/log_speed.hpp"

#include <cmath>

#include "statistics/sample.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

std::vector<double> Logs(const std::vector<double>& rates) {
  std::vector<double> logs;
  for (const double rate : rates) logs.push_back(std::log(rate));
  return logs;
}

Interval Around(double value, double standard_error, double degrees_of_freedom) {
  const double factor = std::exp(StudentQuantile(kUpperTail, degrees_of_freedom) * standard_error);
  return {value / factor, value * factor};
}

std::optional<Interval> WithPooled(double value, double inverse_sizes, const PooledSpread& spread) {
  if (!spread.is_enough() || !(spread.sd > 0)) return std::nullopt;
  return Around(value, spread.sd * std::sqrt(inverse_sizes), static_cast<double>(spread.degrees_of_freedom));
}

}  // namespace

PooledSpread PoolLogs(const std::vector<std::vector<double>>& groups) {
  PooledSpread spread;
  double squares = 0;
  for (const std::vector<double>& rates : groups) {
    if (rates.size() < 2) continue;
    const Sample logs = Summarise(Logs(rates));
    squares += logs.variance * static_cast<double>(logs.n - 1);
    spread.degrees_of_freedom += logs.n - 1;
  }
  if (spread.degrees_of_freedom > 0) spread.sd = std::sqrt(squares / static_cast<double>(spread.degrees_of_freedom));
  return spread;
}

double GeometricMean(const std::vector<double>& rates) {
  // A rate that was read once is that rate, to the last digit.
  return rates.size() == 1 ? rates.front() : std::exp(Summarise(Logs(rates)).mean);
}

std::optional<double> HalfWidthPct(const std::vector<double>& rates) {
  if (rates.size() < 2) return std::nullopt;
  const Sample logs = Summarise(Logs(rates));
  const double size = static_cast<double>(logs.n);
  return 100 * std::expm1(StudentQuantile(kUpperTail, size - 1) * std::sqrt(logs.variance / size));
}

std::optional<Interval> RateInterval(double rate, size_t n, const PooledSpread& spread) {
  return WithPooled(rate, 1 / static_cast<double>(n), spread);
}

std::optional<Interval> RatioInterval(double ratio, size_t n, size_t n_base, const PooledSpread& spread) {
  return WithPooled(ratio, 1 / static_cast<double>(n) + 1 / static_cast<double>(n_base), spread);
}

std::optional<Interval> RatioOfMeans(double mean, double sd, size_t n, double base, double base_sd, size_t n_base) {
  if (!(mean > 0) || !(base > 0) || n < 2 || n_base < 2) return std::nullopt;
  const double size = static_cast<double>(n), size_base = static_cast<double>(n_base);
  const double error = sd / mean * (sd / mean) / size, error_base = base_sd / base * (base_sd / base) / size_base;
  const double both = error + error_base;
  if (!std::isfinite(both)) return std::nullopt;
  if (both == 0) return Interval{mean / base, mean / base};
  const double share = error / both, share_base = error_base / both;
  const double degrees_of_freedom = 1 / (share * share / (size - 1) + share_base * share_base / (size_base - 1));
  return Around(mean / base, std::sqrt(both), degrees_of_freedom);
}

}  // namespace backplane::statistics
