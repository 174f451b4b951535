#include "supervise/eta.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace backplane {
namespace {

constexpr double kTelling = 0.01;  // progress below this says nothing about a trial's pace

std::optional<double> WholeTime(const RunningTrial& trial) {
  return trial.progress >= kTelling ? std::optional(trial.elapsed_s / std::min(trial.progress, 1.0)) : std::nullopt;
}

std::optional<double> MeanTime(const EtaEvidence& evidence) {
  std::vector<double> known = evidence.finished_s;
  for (const RunningTrial& trial : evidence.running) {
    if (const std::optional<double> whole = WholeTime(trial)) {
      known.push_back(*whole);
    }
  }
  if (known.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const double seconds : known) {
    sum += seconds;
  }
  return sum / static_cast<double>(known.size());
}

}  // namespace

std::optional<double> EstimateTimeLeft(const EtaEvidence& evidence) {
  if (evidence.running.empty() && evidence.waiting == 0) {
    return 0;
  }
  const std::optional<double> mean = MeanTime(evidence);
  if (!mean) {
    return std::nullopt;
  }
  // When each place becomes free; whoever waits takes the next one.
  std::priority_queue<double, std::vector<double>, std::greater<>> places;
  double last = 0;
  for (const RunningTrial& trial : evidence.running) {
    const double end = std::max(0.0, WholeTime(trial).value_or(*mean) - trial.elapsed_s);
    places.push(end);
    last = std::max(last, end);
  }
  while (places.size() < std::max<size_t>(1, evidence.at_once)) {
    places.push(0);
  }
  for (size_t i = 0; i < evidence.waiting; ++i) {
    const double end = places.top() + *mean;
    places.pop();
    places.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace backplane
