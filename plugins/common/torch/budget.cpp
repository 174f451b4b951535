#include "torch/budget.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace backplane::torch_common {
namespace {

constexpr size_t kHeader = 64;  // keeps LibTorch's alignment of the data, and stores its size
constexpr uint8_t kPriority = 1;

std::atomic<uint64_t> live{0}, peak{0}, limit{0};

void Take(uint64_t bytes) {
  const uint64_t now = live.fetch_add(bytes) + bytes, most = limit;
  if (most > 0 && now > most) {
    live -= bytes;
    TORCH_CHECK_WITH(OutOfMemoryError, false, "out of device memory: ", bytes, " bytes more than ", now - bytes,
                     " would exceed the limit of ", most);
  }
  for (uint64_t seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) {
  }
}

void Free(void* data) {
  if (!data) return;
  char* block = static_cast<char*>(data) - kHeader;
  uint64_t bytes;
  std::memcpy(&bytes, block, sizeof bytes);
  c10::free_cpu(block);
  live -= bytes;
}

class MeteredAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t n) override {
    if (n == 0) return {nullptr, nullptr, &Free, c10::Device(c10::kCPU)};
    const uint64_t bytes = n + kHeader;
    Take(bytes);
    char* block;
    try {
      block = static_cast<char*>(c10::alloc_cpu(bytes));
    } catch (...) {
      live -= bytes;
      throw;
    }
    std::memcpy(block, &bytes, sizeof bytes);
    char* data = block + kHeader;
    return {data, data, &Free, c10::Device(c10::kCPU)};  // raw_allocate() wants the context to be the data
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t n) const override { default_copy_data(to, from, n); }
};

}  // namespace

void MeterCpuMemory() {
  static MeteredAllocator* const allocator = new MeteredAllocator;  // never freed: tensors may outlive everything
  static std::once_flag once;
  std::call_once(once, [] { c10::SetCPUAllocator(allocator, kPriority); });
}

void LimitCpuMemory(uint64_t bytes) { limit = bytes; }
MemoryUse CpuMemory() { return {live, peak}; }
void ResetCpuPeak() { peak = live.load(); }

}  // namespace backplane::torch_common
