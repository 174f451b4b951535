#include "supervise/gpus.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "config/units.hpp"

namespace backplane {
namespace {

// nvml.h, as far as it is used here; its ABI has kept these since driver 260.
using Device = struct OpaqueDevice*;
struct Memory {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0;
constexpr unsigned kTextSize = 96;

class Nvml {
 public:
  explicit Nvml(const std::string& library) : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), Close) {
    const bool found = handle_ && Find("nvmlInit_v2", &init_) && Find("nvmlShutdown", &shutdown_) &&
                       Find("nvmlDeviceGetCount_v2", &count_) && Find("nvmlDeviceGetHandleByIndex_v2", &by_index_) &&
                       Find("nvmlDeviceGetUUID", &uuid_) && Find("nvmlDeviceGetName", &name_) &&
                       Find("nvmlDeviceGetMemoryInfo", &memory_);
    ready_ = found && init_() == kSuccess;
  }
  ~Nvml() {
    if (ready_) {
      shutdown_();
    }
  }
  Nvml(const Nvml&) = delete;

  std::vector<Gpu> Devices() const {
    std::vector<Gpu> gpus;
    unsigned count = 0;
    if (!ready_ || count_(&count) != kSuccess) {
      return gpus;
    }
    for (unsigned index = 0; index < count; ++index) {
      Device device = nullptr;
      std::array<char, kTextSize> uuid{}, name{};
      Memory memory{};
      if (by_index_(index, &device) == kSuccess && uuid_(device, uuid.data(), kTextSize) == kSuccess &&
          name_(device, name.data(), kTextSize) == kSuccess && memory_(device, &memory) == kSuccess) {
        gpus.push_back({index, uuid.data(), name.data(), memory.total});
      }
    }
    return gpus;
  }

 private:
  static void Close(void* handle) {
    if (handle != nullptr) {
      dlclose(handle);
    }
  }
  template <typename Function>
  bool Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle_.get(), name));
    return *function != nullptr;
  }

  std::unique_ptr<void, void (*)(void*)> handle_;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, Device*) = nullptr;
  int (*uuid_)(Device, char*, unsigned) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*memory_)(Device, Memory*) = nullptr;
  bool ready_ = false;
};

// Null: the entry names no device, or more than one.
const Gpu* FindNamed(const std::vector<Gpu>& gpus, const std::string& entry) {
  if (const std::optional<int64_t> number = ParseInteger(entry)) {
    return *number >= 0 && *number < static_cast<int64_t>(gpus.size()) ? &gpus[static_cast<size_t>(*number)] : nullptr;
  }
  const auto begins = [&](const Gpu& gpu) { return gpu.uuid.starts_with(entry); };
  if (entry.empty() || std::count_if(gpus.begin(), gpus.end(), begins) != 1) {
    return nullptr;
  }
  return &*std::find_if(gpus.begin(), gpus.end(), begins);
}

}  // namespace

std::vector<Gpu> FindGpus(const std::string& nvml_library) { return Nvml(nvml_library).Devices(); }

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

}  // namespace backplane
