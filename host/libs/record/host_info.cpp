#include "record/host_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/files.hpp"
#include "machine/cpu.hpp"
#include "machine/gpus.hpp"

namespace backplane {
namespace {

// Returns the first processor's value; empty if the key is missing.
std::string CpuInfo(std::string_view key) {
  std::istringstream info(ReadFile("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with(key)) return line.substr(std::min(line.size(), line.find(": ") + 2));
  }
  return "";
}

// Returns the CPU flags by which numeric libraries choose their kernels.
std::string NumericFlags() {
  static const std::set<std::string> kKnown = {"sse4_2",      "fma",         "avx",      "avx2",     "avx512f", "avx512_vnni",
                                               "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "asimd",   "sve"};
  std::istringstream flags(CpuInfo("flags") + " " + CpuInfo("Features"));
  std::string found;
  for (std::string flag; flags >> flag;) {
    if (kKnown.contains(flag)) found += (found.empty() ? "" : " ") + flag;
  }
  return found;
}

}  // namespace

HostInfo HostFacts() {
  utsname system{};
  uname(&system);
  const std::string model = CpuInfo("model name");
  return {system.nodename,
          std::string(system.sysname) + " " + system.release,
          model.empty() ? "unknown" : model,
          NumericFlags(),
          GrantedCores(),
          static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))};
}

std::vector<DeviceInfo> DeviceFacts() {
  std::vector<DeviceInfo> devices;
  for (const Gpu& gpu : OwnGpus()) {
    devices.push_back({gpu.name, gpu.memory_bytes});
  }
  return devices;
}

}  // namespace backplane
