#include "machine/nvml.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace backplane::nvml {
namespace {

void Close(void* handle) {
  if (handle != nullptr) dlclose(handle);
}

// The first of the names, newest first, that the library has.
template <class Function>
void Find(void* library, Function* function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (*function == nullptr) *function = reinterpret_cast<Function>(dlsym(library, name));
  }
}

Calls FindAll(void* library) {
  Calls calls;
  Find(library, &calls.init, {"nvmlInit_v2", "nvmlInit"});
  Find(library, &calls.shutdown, {"nvmlShutdown"});
  Find(library, &calls.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  Find(library, &calls.by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  Find(library, &calls.uuid, {"nvmlDeviceGetUUID"});
  Find(library, &calls.name, {"nvmlDeviceGetName"});
  Find(library, &calls.capability, {"nvmlDeviceGetCudaComputeCapability"});
  Find(library, &calls.cores, {"nvmlDeviceGetNumGpuCores"});
  Find(library, &calls.bus_width, {"nvmlDeviceGetMemoryBusWidth"});
  Find(library, &calls.highest_clock, {"nvmlDeviceGetMaxClockInfo"});
  Find(library, &calls.utilization, {"nvmlDeviceGetUtilizationRates"});
  Find(library, &calls.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  Find(library, &calls.memory_v1, {"nvmlDeviceGetMemoryInfo"});
  Find(library, &calls.temperature, {"nvmlDeviceGetTemperature"});
  Find(library, &calls.power, {"nvmlDeviceGetPowerUsage"});
  Find(library, &calls.clock_event_bits,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Find(library, &calls.pcie, {"nvmlDeviceGetPcieThroughput"});
  Find(library, &calls.pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  Find(library, &calls.ecc, {"nvmlDeviceGetTotalEccErrors"});
  Find(library, &calls.processes_v2, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  Find(library, &calls.processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  Find(library, &calls.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  Find(library, &calls.gpm_alloc, {"nvmlGpmSampleAlloc"});
  Find(library, &calls.gpm_free, {"nvmlGpmSampleFree"});
  Find(library, &calls.gpm_sample, {"nvmlGpmSampleGet"});
  Find(library, &calls.gpm_metrics, {"nvmlGpmMetricsGet"});
  return calls;
}

}  // namespace

Library::Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL), Close) {
  if (handle_) calls_ = FindAll(handle_.get());
  ready_ = calls_.init != nullptr && calls_.init() == kSuccess;
}

Library::~Library() {
  if (ready_ && calls_.shutdown != nullptr) calls_.shutdown();
}

}  // namespace backplane::nvml
