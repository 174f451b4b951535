#include "supervise/gpus.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>

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

}  // namespace

std::vector<Gpu> FindGpus(const std::string& nvml_library) { return Nvml(nvml_library).Devices(); }

}  // namespace backplane
