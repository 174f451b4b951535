#include "statistics/deal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace backplane::statistics {
namespace {

double OfMeans(double first, double second, size_t n, size_t all) {
  return first / static_cast<double>(n) - second / static_cast<double>(all - n);
}

}  // namespace

Deal::Deal(const std::vector<double>& a, const std::vector<double>& b) : n_(a.size()), scores_(a) {
  scores_.insert(scores_.end(), b.begin(), b.end());
  const double mean = std::accumulate(scores_.begin(), scores_.end(), 0.0) / static_cast<double>(scores_.size());
  for (double& score : scores_) {
    rounding_ = std::max(rounding_, 16 * std::numeric_limits<double>::epsilon() * std::abs(score));
    score -= mean;
  }
}

double Deal::Difference() const {
  const auto middle = scores_.begin() + static_cast<std::ptrdiff_t>(n_);
  return OfMeans(std::accumulate(scores_.begin(), middle, 0.0), std::accumulate(middle, scores_.end(), 0.0), n_,
                 scores_.size());
}

double Deal::Redeal(bp_rng* rng) {
  for (size_t i = 0; i < n_; ++i) std::swap(scores_[i], scores_[i + bp_rng_below(rng, scores_.size() - i)]);
  return Difference();
}

double Deal::DifferenceOf(const std::vector<char>& picked) const {
  double first = 0, second = 0;
  for (size_t i = 0; i < scores_.size(); ++i) (picked[i] != 0 ? first : second) += scores_[i];
  return OfMeans(first, second, n_, scores_.size());
}

bool Deal::AtLeast(double difference, double seen, double rounding) {
  return std::abs(difference) >= std::abs(seen) * (1 - 1e-12) - rounding;
}

}  // namespace backplane::statistics
