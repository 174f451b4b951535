#include "statistics/robust.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "statistics/difference.hpp"

namespace backplane::statistics {
namespace {

std::vector<double> Pooled(const Tasks& tasks) {
  std::vector<double> out;
  for (const std::vector<double>& scores : tasks) out.insert(out.end(), scores.begin(), scores.end());
  return out;
}

}  // namespace

double InterquartileMean(std::vector<double> scores) {
  const auto drop = static_cast<std::ptrdiff_t>(scores.size() / 4);
  std::ranges::sort(scores);
  const auto first = scores.begin() + drop, last = scores.end() - drop;
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

double InterquartileMean(const Tasks& tasks) { return InterquartileMean(Pooled(tasks)); }

double ProbabilityOfImprovement(const Tasks& a, const Tasks& b) {
  double sum = 0;
  for (size_t task = 0; task < a.size(); ++task) sum += ProbabilityGreater(a[task], b[task]);
  return sum / static_cast<double>(a.size());
}

std::vector<double> PerformanceProfile(const Tasks& tasks, const std::vector<double>& thresholds) {
  std::vector<double> scores = Pooled(tasks), out;
  std::ranges::sort(scores);
  for (const double threshold : thresholds)
    out.push_back(static_cast<double>(scores.end() - std::ranges::upper_bound(scores, threshold)) /
                  static_cast<double>(scores.size()));
  return out;
}

double OptimalityGap(const Tasks& tasks, double reference) {
  const std::vector<double> scores = Pooled(tasks);
  double sum = 0;
  for (const double score : scores) sum += std::max(0.0, reference - score);
  return sum / static_cast<double>(scores.size());
}

}  // namespace backplane::statistics
