// How many CPUs there are for this process, how busy the machine is, and how often a quota stopped us.
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
  std::filesystem::path group;                            // that has it; empty without a quota
};
// The smallest of the control groups (v1 and v2) that hold this process. `self` is the process's folder.
CpuQuota SmallestCpuQuota(const std::filesystem::path& self = "/proc/self");

// min(affinity mask, smallest quota), rounded up: how many cores this process may really use, at least 1.
unsigned GrantedCores();
// The cores of the affinity mask, by number.
std::vector<int> GrantedCpus();

// min(affinity mask of the calling thread, smallest quota).
double EffectiveCpus(const std::filesystem::path& self = "/proc/self");

struct Throttling {
  uint64_t periods = 0, throttled = 0;  // throttled: of those in which the group had used up its quota
};
// Since the group was made. Only the group that has the quota counts them, the groups below it do not.
std::optional<Throttling> ReadThrottling(const std::filesystem::path& group);

// Of all CPUs since the machine started, in clock ticks: user, nice, system, idle, iowait, irq, softirq, steal. The kernel's
// two times of guests are left out, as they stand in user and nice already.
using CpuTimes = std::array<uint64_t, 8>;
std::optional<CpuTimes> ReadCpuTimes(const std::filesystem::path& proc = "/proc");

// Time that was neither idle nor waited for a disk, percent. Absent if no time has passed.
std::optional<double> BusyPct(const CpuTimes& before, const CpuTimes& after);

}  // namespace backplane
