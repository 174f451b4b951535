#include "rollout/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "base/cgroup_path.hpp"

namespace backplane {
namespace {

// quota / period of one cgroup folder; infinity when there is none.
double FolderQuota(const std::filesystem::path& folder) {
  double quota = -1, period = -1;
  std::string first;
  if (std::ifstream v2(folder / "cpu.max"); v2 >> first >> period)
    quota = first == "max" ? -1 : std::strtod(first.c_str(), nullptr);
  else if (std::ifstream q(folder / "cpu.cfs_quota_us"), p(folder / "cpu.cfs_period_us"); !(q >> quota) || !(p >> period))
    return std::numeric_limits<double>::infinity();
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

double CgroupQuota() {
  double limit = std::numeric_limits<double>::infinity();
  for (const std::filesystem::path& folder : LimitingCgroups("cpu")) limit = std::min(limit, FolderQuota(folder));
  return limit;
}

}  // namespace

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
  auto cores = static_cast<unsigned>(GrantedCpus().size());
  const double quota = CgroupQuota();
  if (std::isfinite(quota)) cores = std::min(cores, static_cast<unsigned>(std::ceil(quota)));
  return std::max(cores, 1u);
}

}  // namespace backplane
