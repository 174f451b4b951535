#include "trial/phase_meter.hpp"

#include <algorithm>

namespace backplane {

PhaseMeter::PhaseMeter(std::vector<PhaseClock>& clocks) : clocks_(clocks), seen_ns_(clocks.size()), since_ns_(NowNs()) {
  for (size_t i = 0; i < clocks_.size(); ++i)
    for (size_t p = 0; p < kPhaseCount; ++p) seen_ns_[i][p] = clocks_[i].ns(static_cast<Phase>(p));
}

void PhaseMeter::Look() {
  const int64_t now_ns = NowNs(), went_by_ns = now_ns - since_ns_;
  since_ns_ = now_ns;
  for (size_t i = 0; i < clocks_.size(); ++i) {
    int64_t told_ns = 0;
    for (size_t p = 0; p < kPhaseCount; ++p) {
      const int64_t ns = clocks_[i].ns(static_cast<Phase>(p)), more_ns = ns - seen_ns_[i][p];
      seen_ns_[i][p] = ns;
      new_ns_[p] += more_ns;
      told_ns += more_ns;
    }
    if (i > 0) new_ns_[static_cast<size_t>(Phase::kIdle)] += std::max<int64_t>(went_by_ns - told_ns, 0);
  }
}

void PhaseMeter::AddTo(std::map<std::string, double>* seconds) {
  Look();
  for (size_t p = 0; p < kPhaseCount; ++p) {
    const int64_t us = new_ns_[p] / 1000;
    if (us > 0) (*seconds)[std::string(kPhaseNames[p])] += static_cast<double>(us) / 1e6;
  }
  new_ns_ = {};
}

void PhaseMeter::ResetClocks() {
  Look();
  for (PhaseClock& clock : clocks_) clock.Reset();
  for (auto& of_clock : seen_ns_) of_clock = {};
}

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
