#include "screen/eta.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

namespace backplane {
namespace {

// Less than both is no evidence of a trial's pace: its first iteration warms up.
constexpr double kTelling = 0.01;
constexpr uint64_t kTellingIterations = 2;

std::optional<double> WholeTime(const RunningTrial& trial) {
  const bool tells = trial.progress >= kTelling || (trial.progress > 0 && trial.iterations >= kTellingIterations);
  return tells ? std::optional(trial.elapsed_s / std::min(trial.progress, 1.0)) : std::nullopt;
}

// Means of whole times, by kind and of all.
class MeanTimes {
 public:
  explicit MeanTimes(const EtaEvidence& evidence) {
    for (const FinishedTrial& trial : evidence.finished) Add(trial.kind, trial.elapsed_s);
    for (const RunningTrial& trial : evidence.running)
      if (const std::optional<double> whole = WholeTime(trial)) Add(trial.kind, *whole);
  }

  bool empty() const { return all_.count == 0; }
  double OfAll() const { return all_.Mean(); }
  double Of(size_t kind) const {
    const auto found = kinds_.find(kind);
    return found != kinds_.end() ? found->second.Mean() : OfAll();
  }

 private:
  struct Sum {
    double seconds = 0;
    size_t count = 0;
    double Mean() const { return seconds / static_cast<double>(count); }
  };

  void Add(size_t kind, double seconds) {
    for (Sum* sum : {&all_, &kinds_[kind]}) {
      sum->seconds += seconds;
      ++sum->count;
    }
  }

  Sum all_;
  std::unordered_map<size_t, Sum> kinds_;
};

}  // namespace

std::optional<double> EstimateTimeLeft(const EtaEvidence& evidence) {
  if (evidence.running.empty() && evidence.waiting.empty() && evidence.to_come == 0) return 0;
  const MeanTimes times(evidence);
  if (times.empty()) return std::nullopt;
  // When each place becomes free; a waiting trial uses the next one.
  std::priority_queue<double, std::vector<double>, std::greater<>> places;
  double last = 0;
  for (const RunningTrial& trial : evidence.running) {
    const double end = std::max(0.0, WholeTime(trial).value_or(times.Of(trial.kind)) - trial.elapsed_s);
    places.push(end);
    last = std::max(last, end);
  }
  while (places.size() < std::max<size_t>(1, evidence.at_once)) places.push(0);
  const auto start = [&](double seconds) {
    const double end = places.top() + seconds;
    places.pop();
    places.push(end);
    last = std::max(last, end);
  };
  for (const size_t kind : evidence.waiting) start(times.Of(kind));
  for (size_t i = 0; i < evidence.to_come; ++i) start(times.OfAll());
  return last;
}

}  // namespace backplane
