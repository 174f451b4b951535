#include "supervise/host_info.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "supervise/files.hpp"

namespace backplane {
namespace {

// The tightest quota on the way from our control group to the root; 0: none.
double CgroupQuota() {
  std::string group;
  std::istringstream groups(ReadFile("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    group = line.starts_with("0::") ? line.substr(3) : group;
  }
  double tightest = 0;
  for (std::filesystem::path at = group.empty() ? "/" : group;; at = at.parent_path()) {
    std::istringstream text(ReadFile("/sys/fs/cgroup" + at.string() + "/cpu.max").value_or(""));
    double quota = 0, period = 0;  // "max 100000" reads no number
    if (text >> quota >> period && period > 0) {
      tightest = tightest > 0 ? std::min(tightest, quota / period) : quota / period;
    }
    if (at == at.parent_path()) {
      return tightest;
    }
  }
}

std::string CpuModel() {
  std::istringstream info(ReadFile("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.size(), line.find(": ") + 2));
    }
  }
  return "unknown";
}

}  // namespace

int GrantedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = CgroupQuota();
  return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, allowed) : allowed;
}

nlohmann::json HostFacts() {
  utsname system{};
  uname(&system);
  return {{"hostname", system.nodename},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"cpu", CpuModel()},
          {"granted_cores", GrantedCores()},
          {"memory_bytes", static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))}};
}

std::string TorchVersionAt(const std::filesystem::path& torch_lib) {
  if (torch_lib.empty()) {
    return "";
  }
  const std::filesystem::path root = torch_lib.lexically_normal().parent_path();
  std::istringstream python(ReadFile((torch_lib.has_filename() ? root : root.parent_path()) / "version.py").value_or(""));
  for (std::string line; std::getline(python, line);) {
    const size_t open = line.find('\''), close = line.rfind('\'');
    if (line.starts_with("__version__") && open != std::string::npos && close > open) {
      return line.substr(open + 1, close - open - 1);
    }
  }
  std::string version;  // a plain LibTorch archive has this one instead
  std::istringstream(ReadFile(root / "build-version").value_or("")) >> version;
  return version;
}

}  // namespace backplane
