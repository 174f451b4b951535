#include "trial/device_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace backplane {
namespace {

// torch 2.10 and newer prefer the first name; older versions only know the second one.
constexpr const char* kSettings = "PYTORCH_ALLOC_CONF";
constexpr const char* kOldSettings = "PYTORCH_CUDA_ALLOC_CONF";
constexpr const char* kOfJax = "XLA_PYTHON_CLIENT_MEM_FRACTION";  // for envs in Python
constexpr char kShare[] = "per_process_memory_fraction";

std::string Given() {
  for (const char* name : {kSettings, kOldSettings})
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') return text;
  return "";
}

uint64_t SmallestMemory(const std::vector<Gpu>& gpus) {
  const auto less = [](const Gpu& a, const Gpu& b) { return a.memory_bytes < b.memory_bytes; };
  return std::min_element(gpus.begin(), gpus.end(), less)->memory_bytes;
}

}  // namespace

std::string AllocatorSettings(const std::string& given, double share) {
  if (given.find(kShare) != std::string::npos) return given;
  return fmt::format("{}{}{}:{:.6f}", given, given.empty() ? "" : ",", kShare, share);
}

void ResolveDeviceMemory(const std::vector<Gpu>& gpus, ResourceConfig* resources) {
  std::optional<DeviceMemory>& limit = resources->device_memory;
  if (!limit || limit->percent == 0) return;
  if (resources->gpus == 0) return limit.reset();
  if (gpus.empty())
    throw std::runtime_error(
        fmt::format("resources.device_memory: expected a GPU whose memory the driver reports, for {:g}% of it, got none; set a "
                    "size instead, such as 4GiB",
                    limit->percent));
  const double share = std::min(resources->gpus, 1.0) * limit->percent / 100;
  limit = DeviceMemory{static_cast<uint64_t>(share * static_cast<double>(SmallestMemory(gpus)))};
}

void LimitGpuMemory(bool trains, ResourceConfig* resources) {
  if (!resources->device_memory) return;
  const std::vector<Gpu> gpus = OwnGpus();
  if (gpus.empty() && !trains) return resources->device_memory.reset();
  ResolveDeviceMemory(gpus, resources);
  if (gpus.empty() || !resources->device_memory) return;
  const double bytes = static_cast<double>(resources->device_memory->bytes);
  const double share = std::min(1.0, bytes / static_cast<double>(SmallestMemory(gpus)));
  const std::string settings = AllocatorSettings(Given(), share);
  for (const char* name : {kSettings, kOldSettings}) setenv(name, settings.c_str(), 1);
  setenv(kOfJax, fmt::format("{:.6f}", share).c_str(), /*overwrite=*/0);
}

}  // namespace backplane
