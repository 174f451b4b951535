#include "shim/affinity.hpp"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "shim/shim_protocol.hpp"

namespace backplane {

void SetAffinity(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::runtime_error("cannot pin the trial to cores " + JoinedCores(cores, ", ") + ": " + std::strerror(errno));
}

}  // namespace backplane
