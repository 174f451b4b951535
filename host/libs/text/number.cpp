#include "text/number.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/log_speed.hpp"
#include "statistics/student.hpp"

namespace backplane {

namespace {

void BoundByLogarithm(Number* number) {
  number->is_rate = true;
  if (!number->sd) return;
  const double size = static_cast<double>(number->n);
  const double error = *number->sd / number->value / std::sqrt(size);
  const double half = statistics::StudentQuantile(statistics::kUpperTail, size - 1) * error;
  number->low = number->value * std::exp(-half);
  number->high = number->value * std::exp(half);
}

}  // namespace

Number MeanOf(double mean, std::optional<double> sd, uint64_t n, std::string of) {
  Number number;
  number.value = mean;
  number.n = n;
  number.of = std::move(of);
  if (n < 2 || !sd || !std::isfinite(*sd) || !std::isfinite(mean)) return number;
  number.sd = sd;
  const double size = static_cast<double>(n);
  const double half = statistics::StudentQuantile(statistics::kUpperTail, size - 1) * *sd / std::sqrt(size);
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
  Number mean = Mean(values, "seeds");
  if (std::all_of(of_trials.begin(), of_trials.end(), [](const Number& one) { return one.is_rate && one.value > 0; })) {
    BoundByLogarithm(&mean);
  }
  if (mean.low && std::all_of(of_trials.begin(), of_trials.end(), [](const Number& one) { return one.is_time; })) {
    mean.is_time = true;
    mean.low = std::max(0.0, *mean.low);
  }
  return mean;
}

Number RatioOf(const Number& value, const Number& base, double factor) {
  Number ratio = Reading(value.value / base.value * factor);
  const Number& fewer = value.n <= base.n ? value : base;
  ratio.n = fewer.n;
  ratio.of = fewer.of;
  if (!value.low || !base.low || !value.sd || !base.sd) return ratio;
  const auto interval = statistics::RatioOfMeans(value.value, *value.sd, value.n, base.value, *base.sd, base.n);
  if (!interval) return ratio;
  ratio.low = interval->low * factor;
  ratio.high = interval->high * factor;
  return ratio;
}

double Quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace backplane
