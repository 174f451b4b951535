#include "trial/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace backplane {
namespace {

struct GroupSum {
  double ns = 0;
  double used_ns = 0, known_ns = 0;  // on a processor, of the time of phases of which that is known

  double off_core_ns() const { return std::max(known_ns - used_ns, 0.0); }
};
using GroupSums = std::array<GroupSum, kPhaseGroupCount>;

// Each phase stands for its whole time, whatever part of it was looked at.
void AddUse(const std::vector<PhaseClock>& clocks, Phase phase, GroupSum* sum) {
  int64_t ns = 0, cpu_ns = 0, wall_ns = 0;
  for (const PhaseClock& clock : clocks) {
    ns += clock.ns(phase);
    cpu_ns += clock.cpu_ns(phase);
    wall_ns += clock.cpu_wall_ns(phase);
  }
  sum->ns += static_cast<double>(ns);
  if (wall_ns == 0) return;
  sum->used_ns += static_cast<double>(ns) * static_cast<double>(cpu_ns) / static_cast<double>(wall_ns);
  sum->known_ns += static_cast<double>(ns);
}

// Takes out of the groups, by what each was off its core, the time in which no core was free, and returns it. Off a core are
// threads too that wait for a device or a disk: how long it was for want of a core is the kernel's to say.
double TakeQueued(double queued_ns, GroupSums* sums) {
  const double off_core_ns = std::accumulate(sums->begin(), sums->end(), 0.0,
                                             [](double sum, const GroupSum& group) { return sum + group.off_core_ns(); });
  if (off_core_ns <= 0) return 0;
  const double part = std::clamp(queued_ns / off_core_ns, 0.0, 1.0);
  for (GroupSum& group : *sums) {
    const double waited_ns = part * group.off_core_ns();
    group.ns -= waited_ns;
    group.known_ns -= waited_ns;
  }
  return part * off_core_ns;
}

}  // namespace

std::map<std::string, GroupTime> TimeTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns,
                                           std::optional<int64_t> queued_ns,
                                           const std::map<std::string, GroupMeans>& measured) {
  GroupSums sums{};
  for (size_t p = 0; p < kPhaseCount; ++p)
    AddUse(clocks, static_cast<Phase>(p), &sums[static_cast<size_t>(GroupOf(static_cast<Phase>(p)))]);
  GroupSum& idle = sums[static_cast<size_t>(PhaseGroup::kIdle)];
  for (size_t i = 1; i < clocks.size(); ++i) idle.ns += static_cast<double>(wall_ns - clocks[i].total_ns());
  idle.known_ns = 0;  // most of it is time of threads at rest, which nobody looks at

  const double all_ns = static_cast<double>(wall_ns) * static_cast<double>(clocks.size());
  const auto time = [&](double ns) { return GroupTime{ns * 1e-9, ns / all_ns, {}, {}}; };
  std::map<std::string, GroupTime> table;
  if (queued_ns) table["waiting_for_a_core"] = time(TakeQueued(static_cast<double>(*queued_ns), &sums));
  for (size_t g = 0; g < kPhaseGroupCount; ++g) {
    GroupTime& row = table[std::string(kPhaseGroupNames[g])];
    row = time(sums[g].ns);
    row.cpu_use = sums[g].known_ns > 0 ? sums[g].used_ns / sums[g].known_ns : std::nan("");
    row.machine.emplace();
    for (const auto& [name, means] : measured)
      if (const std::optional<double> mean = means.Mean(static_cast<PhaseGroup>(g))) row.machine->emplace(name, *mean);
  }
  table["unnamed"] = time(static_cast<double>(wall_ns - clocks[0].total_ns()));
  return table;
}

std::optional<int64_t> RunQueueWaitNs(const std::vector<PhaseClock>& clocks) {
  int64_t sum = 0;
  for (const PhaseClock& clock : clocks) {
    const std::optional<int64_t> one = clock.RunQueueWaitNs();
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

}  // namespace backplane
