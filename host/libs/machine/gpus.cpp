#include "machine/gpus.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace backplane {
namespace {

constexpr unsigned kTextSize = 96;

std::optional<uint64_t> MemoryBytes(const nvml::Calls& calls, nvml::Device device) {
  nvml::MemoryV2 v2{.version = nvml::kMemoryV2};
  nvml::MemoryV1 v1{};
  if (calls.memory_v2 && calls.memory_v2(device, &v2) == nvml::kSuccess) return v2.total;
  if (calls.memory_v1 && calls.memory_v1(device, &v1) == nvml::kSuccess) return v1.total;
  return std::nullopt;
}

std::optional<int64_t> Integer(const std::string& text) {
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Null: the entry names no device, or more than one.
const Gpu* FindNamed(const std::vector<Gpu>& gpus, const std::string& entry) {
  if (const std::optional<int64_t> number = Integer(entry)) {
    return *number >= 0 && *number < static_cast<int64_t>(gpus.size()) ? &gpus[static_cast<size_t>(*number)] : nullptr;
  }
  const auto begins = [&](const Gpu& gpu) { return gpu.uuid.starts_with(entry); };
  if (entry.empty() || std::count_if(gpus.begin(), gpus.end(), begins) != 1) {
    return nullptr;
  }
  return &*std::find_if(gpus.begin(), gpus.end(), begins);
}

}  // namespace

std::vector<Gpu> FindGpus(const std::string& nvml_library) { return FindGpus(nvml::Library(nvml_library)); }

std::vector<Gpu> FindGpus(const nvml::Library& library) {
  const nvml::Calls& calls = library.calls();
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (!library.ready() || !calls.count || !calls.by_index || !calls.uuid || !calls.name ||
      calls.count(&count) != nvml::kSuccess) {
    return gpus;
  }
  for (unsigned index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    std::array<char, kTextSize> uuid{}, name{};
    if (calls.by_index(index, &device) != nvml::kSuccess || calls.uuid(device, uuid.data(), kTextSize) != nvml::kSuccess ||
        calls.name(device, name.data(), kTextSize) != nvml::kSuccess) {
      continue;
    }
    if (const auto bytes = MemoryBytes(calls, device)) gpus.push_back({index, uuid.data(), name.data(), *bytes});
  }
  return gpus;
}

std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& gpus, const std::optional<std::string>& visible_devices) {
  if (!visible_devices) {
    return gpus;
  }
  std::vector<Gpu> visible;
  std::istringstream entries(*visible_devices);
  for (std::string entry; std::getline(entries, entry, ',');) {
    std::erase(entry, ' ');
    const Gpu* gpu = FindNamed(gpus, entry);
    const bool again =
        gpu && std::any_of(visible.begin(), visible.end(), [&](const Gpu& other) { return other.uuid == gpu->uuid; });
    if (!gpu || again) {
      break;
    }
    visible.push_back(*gpu);
  }
  return visible;
}

std::vector<Gpu> OwnGpus() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return VisibleGpus(FindGpus(), visible ? std::optional<std::string>(visible) : std::nullopt);
}

}  // namespace backplane
