#include "trial/group_means.hpp"

#include <algorithm>

namespace backplane {

GroupTimes GroupTimesOf(const PhaseClock& clock) {
  GroupTimes times{};
  for (size_t p = 0; p < kPhaseCount; ++p) {
    const Phase phase = static_cast<Phase>(p);
    times[static_cast<size_t>(GroupOf(phase))] += clock.ns(phase);
  }
  if (clock.running()) times[static_cast<size_t>(GroupOf(clock.current()))] += std::max<int64_t>(0, NowNs() - clock.since_ns());
  return times;
}

void GroupMeans::Add(double value, const GroupTimes& now) {
  for (size_t g = 0; g < kPhaseGroupCount; ++g) {
    const double weight = static_cast<double>(std::max<int64_t>(0, now[g] - last_[g]));
    sums_[g] += weight * value;
    weights_[g] += weight;
  }
  last_ = now;
}

std::optional<double> GroupMeans::Mean(PhaseGroup group) const {
  const size_t g = static_cast<size_t>(group);
  return weights_[g] > 0 ? std::optional(sums_[g] / weights_[g]) : std::nullopt;
}

}  // namespace backplane
