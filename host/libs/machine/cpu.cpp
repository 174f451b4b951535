#include "machine/cpu.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "machine/cgroup_path.hpp"
#include "machine/kernel_file.hpp"

namespace backplane {
namespace {

constexpr size_t kIdle = 3, kIoWait = 4;

// Without a quota, v2 writes "max 100000" and v1 -1: neither is a positive number.
double QuotaOf(const std::filesystem::path& group) {
  double quota = -1, period = -1;
  if (const auto v2 = ReadKernelFile(group / "cpu.max")) {
    std::istringstream(*v2) >> quota >> period;
  } else {
    std::istringstream(ReadKernelFile(group / "cpu.cfs_quota_us").value_or("")) >> quota;
    std::istringstream(ReadKernelFile(group / "cpu.cfs_period_us").value_or("")) >> period;
  }
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

}  // namespace

CpuQuota SmallestCpuQuota(const std::filesystem::path& self) {
  CpuQuota smallest;
  for (const std::filesystem::path& group : LimitingCgroups("cpu", self)) {
    const double cpus = QuotaOf(group);
    if (cpus < smallest.cpus) smallest = {cpus, group};
  }
  return smallest;
}

std::vector<int> GrantedCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  return cpus;
}

unsigned GrantedCores() {
  const double cores = std::min(static_cast<double>(GrantedCpus().size()), SmallestCpuQuota().cpus);
  return std::max(1u, static_cast<unsigned>(std::ceil(cores)));
}

double EffectiveCpus(const std::filesystem::path& self) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const double affinity =
      sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::min(affinity, SmallestCpuQuota(self).cpus);
}

std::optional<Throttling> ReadThrottling(const std::filesystem::path& group) {
  const std::string text = ReadKernelFile(group / "cpu.stat").value_or("");
  const auto periods = NumberAfter(text, "nr_periods"), throttled = NumberAfter(text, "nr_throttled");
  return periods && throttled ? std::optional(Throttling{*periods, *throttled}) : std::nullopt;
}

std::optional<CpuTimes> ReadCpuTimes(const std::filesystem::path& proc) {
  std::istringstream line(ReadKernelFile(proc / "stat").value_or(""));
  std::string name;
  CpuTimes times{};
  line >> name;
  for (uint64_t& ticks : times) line >> ticks;
  return line && name == "cpu" ? std::optional(times) : std::nullopt;
}

std::optional<double> BusyPct(const CpuTimes& before, const CpuTimes& after) {
  CpuTimes passed{};  // iowait, and on some machines idle, may run backwards
  for (size_t i = 0; i < passed.size(); ++i) passed[i] = after[i] > before[i] ? after[i] - before[i] : 0;
  const auto total = static_cast<double>(std::accumulate(passed.begin(), passed.end(), uint64_t{0}));
  if (total <= 0) return std::nullopt;
  return 100 * (1 - static_cast<double>(passed[kIdle] + passed[kIoWait]) / total);
}

}  // namespace backplane
