// Acts as a driver with two devices, with its errors. FAKE_NVML selects a difference:
//   no-driver      the library exists, the driver is not loaded
//   no-permission  utilisation and power are for root
//   mig            the devices are divided: no utilisation, no counters
//   other-version  no struct has the requested version
//   container      processes have numbers of a different namespace
//   idle           only idleness holds the clocks down
//   three          there is a third device
// FAKE_OLD: a library of many years ago, without the newer names and structs.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kVersionMismatch = 25,
};

constexpr unsigned long long kMiB = 1ull << 20;
constexpr unsigned kOthers = 12;  // processes of other users on each device

struct Device {
  const char *uuid, *name;
  unsigned long long total_mib, reserved_mib, used_mib, own_mib;
  unsigned util, power_mw, celsius;
  unsigned long long clock_event_bits;
  double sm_util;
  int major, minor;
  unsigned cores, bus_bits, sm_mhz, memory_mhz;
};
Device devices[] = {
    {"GPU-11111111-aaaa", "Fake A", 8192, 256, 2048, 1024, 40, 100'000, 60, 0x4, 30, 8, 0, 6912, 5120, 1410, 1215},
    {"GPU-22222222-bbbb", "Fake B", 16384, 256, 4096, 2048, 60, 150'500, 70, 0x20, 50, 99, 1, 1000, 256, 2000, 8000},
    {"GPU-33333333-cccc", "Fake C", 8192, 256, 1024, 512, 80, 90'000, 50, 0, 70, 8, 6, 3840, 192, 1400, 7000}};
int users = 0;
std::map<std::string, unsigned> calls;

bool Is(const char* mode) {
  const char* now = std::getenv("FAKE_NVML");
  return now != nullptr && std::strcmp(now, mode) == 0;
}

unsigned Count() { return Is("three") ? 3 : 2; }

int Copy(const char* from, char* to, unsigned size) {
  if (std::strlen(from) >= size) return kInsufficientSize;
  std::strcpy(to, from);
  return kSuccess;
}

template <class Process>
int List(Device* device, unsigned* count, Process* processes) {
  const unsigned room = *count;
  *count = kOthers + 1;
  if (room < *count) return kInsufficientSize;
  const unsigned own = Is("container") ? 4'000'000'000u : static_cast<unsigned>(getpid());
  for (unsigned i = 0; i < *count; ++i) processes[i] = Process{i == kOthers ? own : 3'000'000'000u + i, kMiB};
  processes[kOthers].memory = device->own_mib * kMiB;
  return kSuccess;
}

struct Sample {
  Device* taken_of;
};
struct Metric {
  unsigned id;
  int status;
  double value;
  const char* texts[3];
};
struct Request {
  unsigned version, count;
  Sample *first, *second;
  Metric metrics[1];
};

}  // namespace

extern "C" {

unsigned fake_nvml_calls(const char* what) { return calls[what]; }

int nvmlShutdown() {
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}
int nvmlDeviceGetUUID(Device* device, char* text, unsigned size) { return Copy(device->uuid, text, size); }
int nvmlDeviceGetName(Device* device, char* text, unsigned size) { return Copy(device->name, text, size); }
int nvmlDeviceGetMemoryInfo(Device* device, unsigned long long* total_free_used) {
  total_free_used[0] = device->total_mib * kMiB;
  total_free_used[1] = (device->total_mib - device->reserved_mib - device->used_mib) * kMiB;
  total_free_used[2] = (device->reserved_mib + device->used_mib) * kMiB;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(Device* device, unsigned* gpu_memory) {
  ++calls["utilization"];
  if (Is("mig")) return kNotSupported;
  if (Is("no-permission")) return kNoPermission;
  gpu_memory[0] = device->util, gpu_memory[1] = 1;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(Device* device, unsigned* milliwatts) {
  ++calls["power"];
  *milliwatts = device->power_mw;
  return Is("no-permission") ? kNoPermission : kSuccess;
}
int nvmlDeviceGetTemperature(Device* device, int sensor, unsigned* celsius) {
  *celsius = device->celsius;
  return sensor == 0 ? kSuccess : kInvalidArgument;
}

#ifdef FAKE_OLD

struct Process {
  unsigned pid;
  unsigned long long memory;
};
int nvmlInit() { return ++users, kSuccess; }
int nvmlDeviceGetCount(unsigned* count) { return *count = Count(), users > 0 ? kSuccess : kUninitialized; }
int nvmlDeviceGetHandleByIndex(unsigned index, Device** device) {
  if (index >= Count()) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device* device, unsigned long long* bits) {
  *bits = Is("idle") ? 0x1 : device->clock_event_bits;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses(Device* device, unsigned* count, Process* processes) {
  return List(device, count, processes);
}

#else

struct Memory {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
// The first device has the numbers of an A100, the second a capability of the future.
int nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  *major = device->major, *minor = device->minor;
  return kSuccess;
}
int nvmlDeviceGetNumGpuCores(Device* device, unsigned* cores) { return *cores = device->cores, kSuccess; }
int nvmlDeviceGetMemoryBusWidth(Device* device, unsigned* bits) { return *bits = device->bus_bits, kSuccess; }
int nvmlDeviceGetMaxClockInfo(Device* device, int type, unsigned* mhz) {
  if (type != 1 && type != 2) return kInvalidArgument;
  *mhz = type == 1 ? device->sm_mhz : device->memory_mhz;
  return kSuccess;
}
int nvmlInit_v2() {
  if (Is("no-driver")) return kDriverNotLoaded;
  ++users;
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Count();
  return users > 0 ? kSuccess : kUninitialized;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  if (users == 0) return kUninitialized;
  if (index >= Count()) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo_v2(Device* device, Memory* memory) {
  ++calls["memory_v2"];
  if (memory->version != 0x2000028 || Is("other-version")) return kVersionMismatch;
  memory->total = device->total_mib * kMiB;
  memory->reserved = device->reserved_mib * kMiB;
  memory->used = device->used_mib * kMiB;
  memory->free = memory->total - memory->reserved - memory->used;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksEventReasons(Device* device, unsigned long long* bits) {
  *bits = Is("idle") ? 0x1 : device->clock_event_bits;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device* device, unsigned* count, Process* processes) {
  return List(device, count, processes);
}
int nvmlDeviceGetPcieThroughput(Device* device, int counter, unsigned* kb_per_s) {
  ++calls["pcie"];
  if (counter != 0 && counter != 1) return kInvalidArgument;
  *kb_per_s = device->util * 1000 * (counter == 0 ? 1 : 3);
  return Is("mig") ? kNotSupported : kSuccess;
}
// Each query finds two more replays on each device.
int nvmlDeviceGetPcieReplayCounter(Device*, unsigned* replays) {
  static unsigned count = 7;
  *replays = count++;
  return Is("mig") ? kNotSupported : kSuccess;
}
// Each query finds one more corrected error on the first device, which has ECC.
int nvmlDeviceGetTotalEccErrors(Device* device, int type, int counter, unsigned long long* errors) {
  static unsigned long long corrected = 100;
  if (device != &devices[0] || Is("mig")) return kNotSupported;
  if (counter != 0 || type < 0 || type > 1) return kInvalidArgument;
  *errors = type == 0 ? corrected++ : 2;
  return kSuccess;
}
int nvmlGpmQueryDeviceSupport(Device*, unsigned* version_supported) {
  if (version_supported[0] != 1 || Is("other-version")) return kVersionMismatch;
  version_supported[1] = !Is("mig");
  return kSuccess;
}
int nvmlGpmSampleAlloc(Sample** sample) {
  *sample = new Sample();
  return kSuccess;
}
int nvmlGpmSampleFree(Sample* sample) {
  delete sample;
  return kSuccess;
}
int nvmlGpmSampleGet(Device* device, Sample* sample) {
  ++calls["gpm_sample"];
  sample->taken_of = device;
  return kSuccess;
}
int nvmlGpmMetricsGet(Request* request) {
  if (request->version != 1) return kVersionMismatch;
  if (request->first == request->second || request->first->taken_of != request->second->taken_of) return kInvalidArgument;
  for (unsigned i = 0; i < request->count; ++i) {
    constexpr unsigned kSmUtil = 2;
    request->metrics[i].status = request->metrics[i].id == kSmUtil ? kSuccess : kNotSupported;
    request->metrics[i].value = request->first->taken_of->sm_util;
  }
  return kSuccess;
}

#endif
}
