#include "analysis/number.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace backplane {
namespace {

constexpr double kUpperTail = 0.975;  // of a 95 % interval

}  // namespace

Number MeanOf(double mean, std::optional<double> sd, uint64_t n, std::string of) {
  Number number;
  number.value = mean;
  number.n = n;
  number.of = std::move(of);
  if (n < 2 || !sd || !std::isfinite(*sd) || !std::isfinite(mean)) return number;
  number.sd = sd;
  const double size = static_cast<double>(n);
  const double half = StudentQuantile(kUpperTail, size - 1) * *sd / std::sqrt(size);
  number.low = mean - half;
  number.high = mean + half;
  return number;
}

Number Mean(const std::vector<double>& values, std::string of) {
  const double size = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / size;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (!std::isfinite(mean)) return MeanOf(std::nan(""), std::nullopt, values.size(), std::move(of));
  return MeanOf(mean, values.size() > 1 ? std::optional(std::sqrt(squares / (size - 1))) : std::nullopt, values.size(),
                std::move(of));
}

std::optional<Number> OverSeeds(const std::vector<Number>& of_trials) {
  if (of_trials.empty()) return std::nullopt;
  if (of_trials.size() == 1) return of_trials.front();
  std::vector<double> values;
  for (const Number& number : of_trials) values.push_back(number.value);
  return Mean(values, "seeds");
}

Number RatioOf(const Number& value, const Number& base, double factor) {
  Number ratio = Reading(value.value / base.value * factor);
  const Number& fewer = value.n <= base.n ? value : base;
  ratio.n = fewer.n;
  ratio.of = fewer.of;
  if (!value.high || !base.high || value.value == 0) return ratio;
  const double half =
      std::abs(ratio.value) * std::hypot((*value.high - value.value) / value.value, (*base.high - base.value) / base.value);
  ratio.low = ratio.value - half;
  ratio.high = ratio.value + half;
  return ratio;
}

double Quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

double StudentQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

}  // namespace backplane
