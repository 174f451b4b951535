#include "torch/device.hpp"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <cstdlib>
#include <cstring>

#include "torch/at_device.hpp"
#include "torch/budget.hpp"

namespace backplane::torch_common {
namespace {

uint64_t Bytes(int64_t counted) { return static_cast<uint64_t>(counted); }

}  // namespace

bool HasCuda() { return at::hasCUDA(); }

bp_device_use DeviceUse(bp_device device) {
  if (device.type == BP_DEVICE_CPU) {
    const MemoryUse use = CpuMemory();
    return {sizeof(bp_device_use), 0, use.live_bytes, use.peak_bytes, use.live_bytes};
  }
  const c10::Device at = DeviceOf(device);
  const auto stats = c10::getDeviceAllocator(at.type())->getDeviceStats(at.index());
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const c10::CachingAllocator::Stat &of_tensors = stats.allocated_bytes[kAll], &taken = stats.reserved_bytes[kAll];
  return {sizeof(bp_device_use), 0, Bytes(of_tensors.current), Bytes(of_tensors.peak), Bytes(taken.current)};
}

void ResetPeak(bp_device device) {
  if (device.type == BP_DEVICE_CPU) return ResetCpuPeak();
  const c10::Device at = DeviceOf(device);
  c10::getDeviceAllocator(at.type())->resetPeakStats(at.index());
}

bool LimitMemory(bp_device device, uint64_t bytes) {
  if (device.type != BP_DEVICE_CPU) {
    const char* settings = std::getenv("PYTORCH_ALLOC_CONF");
    return settings != nullptr && std::strstr(settings, "per_process_memory_fraction") != nullptr;
  }
  LimitCpuMemory(bytes);
  return true;
}

void EmptyCache(bp_device device) {
  if (device.type == BP_DEVICE_CPU) return;
  c10::DeviceAllocator* allocator = c10::getDeviceAllocator(DeviceOf(device).type());
  if (allocator->initialized()) allocator->emptyCache();
}

}  // namespace backplane::torch_common
