#include "statistics/difference.hpp"

#include <cmath>

#include "statistics/sample.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

Difference WithError(double value, double standard_error, double degrees_of_freedom) {
  const double half = StudentQuantile(kUpperTail, degrees_of_freedom) * standard_error, t = value / standard_error;
  return {value, standard_error, degrees_of_freedom, t, StudentTwoSided(t, degrees_of_freedom), value - half, value + half};
}

// By the variances of two means.
std::optional<Difference> OfVariances(double difference, double error_a, double size_a, double error_b, double size_b) {
  const double both = error_a + error_b;
  if (!(both > 0) || !std::isfinite(both)) return std::nullopt;
  // Shares of the whole, so that squares of tiny variances do not vanish.
  const double share_a = error_a / both, share_b = error_b / both;
  const double degrees_of_freedom = 1 / (share_a * share_a / (size_a - 1) + share_b * share_b / (size_b - 1));
  return WithError(difference, std::sqrt(both), degrees_of_freedom);
}

}  // namespace

std::optional<Difference> WelchDifference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const Sample of_a = Summarise(a), of_b = Summarise(b);
  const double size_a = static_cast<double>(of_a.n), size_b = static_cast<double>(of_b.n);
  return OfVariances(of_a.mean - of_b.mean, of_a.variance / size_a, size_a, of_b.variance / size_b, size_b);
}

std::optional<Difference> WelchOfErrors(double difference, double error_a, size_t n_a, double error_b, size_t n_b) {
  return OfVariances(difference, error_a * error_a, static_cast<double>(n_a), error_b * error_b, static_cast<double>(n_b));
}

std::optional<Difference> PairedDifference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return MeanDifference(differences);
}

std::optional<Difference> MeanDifference(const std::vector<double>& differences) {
  if (differences.size() < 2) return std::nullopt;
  const Sample sample = Summarise(differences);
  if (!(sample.variance > 0) || !std::isfinite(sample.variance)) return std::nullopt;
  const double size = static_cast<double>(sample.n);
  return WithError(sample.mean, std::sqrt(sample.variance / size), size - 1);
}

double ProbabilityGreater(const std::vector<double>& a, const std::vector<double>& b) {
  double wins = 0;
  for (const double x : a) {
    for (const double y : b) wins += x > y ? 1 : x == y ? 0.5 : 0;
  }
  return wins / (static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

}  // namespace backplane::statistics
