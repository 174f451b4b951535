#include "kept_directions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace backplane::ars {

Step TakeStep(const std::vector<double>& returns, int64_t top) {
  Step step;
  step.kept.resize(returns.size() / 2);
  std::iota(step.kept.begin(), step.kept.end(), 0);
  const auto best = [&](int64_t direction) { return std::max(returns[2 * direction], returns[2 * direction + 1]); };
  std::stable_sort(step.kept.begin(), step.kept.end(), [&](int64_t a, int64_t b) { return best(a) > best(b); });
  step.kept.resize(top);

  const double n = 2 * static_cast<double>(top);
  double mean = 0, squares = 0;
  for (int64_t d : step.kept) mean += (returns[2 * d] + returns[2 * d + 1]) / n;
  for (int64_t d : step.kept) squares += std::pow(returns[2 * d] - mean, 2) + std::pow(returns[2 * d + 1] - mean, 2);
  // Equal returns may differ from their mean by its rounding.
  const bool equal = std::ranges::all_of(step.kept, [&](int64_t d) {
    return returns[2 * d] == returns[2 * step.kept[0]] && returns[2 * d + 1] == returns[2 * step.kept[0]];
  });
  step.sigma = equal ? 0 : std::sqrt(squares / n);
  for (int64_t d : step.kept) {
    const double difference = returns[2 * d] - returns[2 * d + 1];
    step.weights.push_back(step.sigma > 0 ? difference / (static_cast<double>(top) * step.sigma) : 0);
  }
  return step;
}

std::vector<double> CentredRanks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  const double last = static_cast<double>(values.size()) - 1;
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin; end < order.size() && values[order[end]] == values[order[begin]]; ++end) continue;
    const double rank = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank / last - 0.5;
  }
  return ranks;
}

}  // namespace backplane::ars
