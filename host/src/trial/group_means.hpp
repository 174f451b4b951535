// What monitors measure of the machine, by what the trial was doing meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "record/phase_groups.hpp"
#include "rollout/phase_clock.hpp"

namespace backplane {

// Nanoseconds of each group so far, the running span included. A span that ends just now may be missed; the next reading has
// it.
using GroupTimes = std::array<int64_t, kPhaseGroupCount>;
GroupTimes GroupTimesOf(const PhaseClock& clock);  // [any]

// Mean of one measure in each group. A value speaks of the time since the one before, so it counts for each group by the time
// that the group had in between: what comes and goes faster than values are taken can not be told apart.
class GroupMeans {
 public:
  void Add(double value, const GroupTimes& now);
  std::optional<double> Mean(PhaseGroup group) const;  // absent: the group had no time

 private:
  GroupTimes last_{};
  std::array<double, kPhaseGroupCount> sums_{}, weights_{};
};

}  // namespace backplane
