// CPUs available to this process, the machine's load, and throttling by a quota.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

namespace backplane {

struct CpuQuota {
  double cpus = std::numeric_limits<double>::infinity();  // quota / period
  std::filesystem::path group;                            // that sets the quota; empty if there is none
};
// The smallest quota of the control groups (v1 and v2) that contain this process. `self` is the process's folder.
CpuQuota SmallestCpuQuota(const std::filesystem::path& self = "/proc/self");

// min(affinity mask, smallest quota), rounded up: the number of usable cores, at least 1.
unsigned GrantedCores();
// The cores of the affinity mask, by number.
std::vector<int> GrantedCpus();

// min(affinity mask of the calling thread, smallest quota).
double EffectiveCpus(const std::filesystem::path& self = "/proc/self");

struct Throttling {
  uint64_t periods = 0, throttled = 0;  // throttled: periods in which the group exhausted its quota
};
// Counts since the group's creation. Only the group with the quota counts them, not its descendants.
std::optional<Throttling> ReadThrottling(const std::filesystem::path& group);

// Clock ticks of all CPUs since boot: user, nice, system, idle, iowait, irq, softirq, steal. The kernel's two guest times are
// omitted, because user and nice include them.
using CpuTimes = std::array<uint64_t, 8>;
std::optional<CpuTimes> ReadCpuTimes(const std::filesystem::path& proc = "/proc");

// Percent of time that was neither idle nor waiting for a disk. Absent if no time has passed.
std::optional<double> BusyPct(const CpuTimes& before, const CpuTimes& after);

}  // namespace backplane
