#include "supervise/host_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "machine/gpus.hpp"
#include "rollout/cores.hpp"

namespace backplane {
namespace {

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

nlohmann::json HostFacts() {
  utsname system{};
  uname(&system);
  return {{"hostname", system.nodename},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"cpu", CpuModel()},
          {"granted_cores", GrantedCores()},
          {"memory_bytes", static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))}};
}

nlohmann::json DeviceFacts() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  nlohmann::json devices = nlohmann::json::array();
  for (const Gpu& gpu : VisibleGpus(FindGpus(), visible ? std::optional<std::string>(visible) : std::nullopt)) {
    devices.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}});
  }
  return devices;
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
