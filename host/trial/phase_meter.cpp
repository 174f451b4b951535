#include "trial/phase_meter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

namespace {

struct GroupSum {
  double ns = 0;
  double used_ns = 0, known_ns = 0;  // time on a processor; time of phases where that is known

  double off_core_ns() const { return std::max(known_ns - used_ns, 0.0); }
};
using GroupSums = std::array<GroupSum, kPhaseGroupCount>;

// Scales each phase's known part to its whole time.
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

// Moves the time without a free core out of the groups, in proportion to their time off a core, and returns it. Threads that
// wait for a device or a disk are off a core too, so only the kernel knows the time without a free core.
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
  idle.known_ns = 0;  // mostly idle threads, whose CPU time is not read

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
