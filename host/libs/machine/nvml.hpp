// NVIDIA's management library, loaded at run time because only machines with the driver have it. Types and constants are copied
// from nvml.h 13.3, which other machines lack too. The library is thread-safe.
#pragma once

#include <memory>
#include <string>

namespace backplane::nvml {

inline constexpr const char* kLibrary = "libnvidia-ml.so.1";  // the name without a number belongs to the development package

enum Return : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kArgumentVersionMismatch = 25,
};

using Device = struct OpaqueDevice*;
using GpmSample = struct OpaqueGpmSample*;

struct Utilization {
  unsigned gpu, memory;  // percent of the driver's last period in which a kernel ran, in which memory was read or written
};
struct MemoryV1 {
  unsigned long long total, free, used;  // bytes
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2u << 24;
struct ProcessV1 {
  unsigned pid;
  unsigned long long used_memory;
};
struct ProcessV2 {  // of _v2 and _v3
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
inline constexpr unsigned long long kMemoryNotTold = ~0ull;

enum PcieCounter : int { kPcieSent = 0, kPcieReceived = 1 };
enum EccType : int { kEccCorrected = 0, kEccUncorrected = 1 };
inline constexpr int kEccSinceBoot = 0;  // the volatile counter: since the driver was loaded

inline constexpr unsigned kGpmVersion = 1;
inline constexpr unsigned kGpmSmUtil = 2;
struct GpmSupport {
  unsigned version, is_supported;
};
struct GpmMetric {
  unsigned id;
  int status;  // of this metric
  double value;
  const char *short_name, *long_name, *unit;
};
struct GpmRequest {
  unsigned version, count;
  GpmSample first, second;
  GpmMetric metrics[333];  // the first `count` are valid
};

static_assert(sizeof(Utilization) == 8 && sizeof(MemoryV1) == 24 && sizeof(MemoryV2) == 40 && kMemoryV2 == 0x2000028);
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24);
static_assert(sizeof(GpmSupport) == 8 && sizeof(GpmMetric) == 40 && sizeof(GpmRequest) == 13344);

// Null: this driver's library has no such function under any of its names. Texts are (buffer, its size).
struct Calls {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*capability)(Device, int* major, int* minor) = nullptr;
  int (*cores)(Device, unsigned*) = nullptr;
  int (*bus_width)(Device, unsigned* bits) = nullptr;
  int (*highest_clock)(Device, int type, unsigned* mhz) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory_v2)(Device, MemoryV2*) = nullptr;
  int (*memory_v1)(Device, MemoryV1*) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*clock_event_bits)(Device, unsigned long long*) = nullptr;
  int (*pcie)(Device, int counter, unsigned* kb_per_s) = nullptr;  // over 20 ms, for which the call waits
  int (*pcie_replays)(Device, unsigned*) = nullptr;                // since the driver was loaded
  int (*ecc)(Device, int type, int counter, unsigned long long*) = nullptr;
  int (*processes_v2)(Device, unsigned* count, ProcessV2*) = nullptr;
  int (*processes_v1)(Device, unsigned* count, ProcessV1*) = nullptr;
  int (*gpm_support)(Device, GpmSupport*) = nullptr;
  int (*gpm_alloc)(GpmSample*) = nullptr;
  int (*gpm_free)(GpmSample) = nullptr;
  int (*gpm_sample)(Device, GpmSample) = nullptr;
  int (*gpm_metrics)(GpmRequest*) = nullptr;
};

// Open while it lives. Without the library or without a driver it is not ready, which is no error: there is no GPU.
class Library {
 public:
  explicit Library(const std::string& name = kLibrary);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool ready() const { return ready_; }
  const Calls& calls() const { return calls_; }

 private:
  std::unique_ptr<void, void (*)(void*)> handle_;
  Calls calls_;
  bool ready_ = false;
};

// A repeated query of a device. After a permanent failure (not supported, no permission, unknown function or version, device
// lost) it is not repeated; other failures may be temporary.
class Question {
 public:
  // True on success. `call` may be null.
  template <class... Parameters, class... Arguments>
  bool Ask(int (*call)(Parameters...), Arguments... arguments) {
    if (call == nullptr || refused_) return false;
    const int code = call(arguments...);
    refused_ = code == kNotSupported || code == kNoPermission || code == kFunctionNotFound || code == kGpuIsLost ||
               code == kArgumentVersionMismatch;
    return code == kSuccess;
  }

 private:
  bool refused_ = false;
};

}  // namespace backplane::nvml
