#include "rollout/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace backplane {
namespace {

// quota / period of one cgroup folder; infinity when there is none.
double FolderQuota(const std::string& folder) {
  double quota = -1, period = -1;
  std::string first;
  if (std::ifstream v2(folder + "/cpu.max"); v2 >> first >> period)
    quota = first == "max" ? -1 : std::strtod(first.c_str(), nullptr);
  else if (std::ifstream q(folder + "/cpu.cfs_quota_us"), p(folder + "/cpu.cfs_period_us"); !(q >> quota) || !(p >> period))
    return std::numeric_limits<double>::infinity();
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

// The mount point and root of the cgroup hierarchy that holds the cpu controller (v1) or of the v2 one.
bool FindMount(bool v2, std::string* point, std::string* root) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line), right(line.substr(dash + 3));
    std::string skip, type, source, options;
    left >> skip >> skip >> skip >> *root >> *point;
    right >> type >> source >> options;
    if (v2 ? type == "cgroup2" : type == "cgroup" && ("," + options + ",").find(",cpu,") != std::string::npos) return true;
  }
  return false;
}

double CgroupQuota() {
  double limit = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = "," + line.substr(a + 1, b - a - 1) + ",";
    const bool v2 = controllers == ",,";
    if (!v2 && controllers.find(",cpu,") == std::string::npos) continue;
    std::string point, root, path = line.substr(b + 1);
    if (!FindMount(v2, &point, &root)) continue;
    if (root != "/" && path.rfind(root, 0) == 0) path = path.substr(root.size());
    for (;;) {
      limit = std::min(limit, FolderQuota(point + path));
      const size_t cut = path.find_last_of('/');
      if (path.empty() || cut == std::string::npos) break;
      path = path.substr(0, cut);
    }
  }
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
