#include "rollout/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "machine/cpu.hpp"

namespace backplane {

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
  const double quota = SmallestCpuQuota().cpus;
  if (std::isfinite(quota)) cores = std::min(cores, static_cast<unsigned>(std::ceil(quota)));
  return std::max(cores, 1u);
}

}  // namespace backplane
