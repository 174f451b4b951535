#include "trial/device_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "machine/gpus.hpp"

namespace backplane {
namespace {

// torch 2.10 and newer prefer the first name; older versions only know the second one.
constexpr const char* kSettings = "PYTORCH_ALLOC_CONF";
constexpr const char* kOldSettings = "PYTORCH_CUDA_ALLOC_CONF";
constexpr char kShare[] = "per_process_memory_fraction";

std::string Given() {
  for (const char* name : {kSettings, kOldSettings})
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') return text;
  return "";
}

}  // namespace

std::string AllocatorSettings(const std::string& given, uint64_t bytes, uint64_t device_bytes) {
  if (given.find(kShare) != std::string::npos) return given;
  const double share = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(device_bytes));
  return fmt::format("{}{}{}:{:.6f}", given, given.empty() ? "" : ",", kShare, share);
}

void LimitGpuMemory(const std::optional<uint64_t>& bytes) {
  if (!bytes) return;
  const std::vector<Gpu> gpus = OwnGpus();
  if (gpus.empty()) return;
  const auto smallest =
      std::min_element(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.memory_bytes < b.memory_bytes; });
  const std::string settings = AllocatorSettings(Given(), *bytes, smallest->memory_bytes);
  for (const char* name : {kSettings, kOldSettings}) setenv(name, settings.c_str(), 1);
}

}  // namespace backplane
