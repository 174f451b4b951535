#include "rollout/memory_reserve.hpp"

#include <atomic>
#include <cstdlib>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr size_t kReserveBytes = size_t{4} << 20;  // a result with 10,000 measures takes about 2 MiB

std::atomic<void*> g_reserve{nullptr};

}  // namespace

void KeepMemoryReserve() { g_reserve = std::malloc(kReserveBytes); }

void ReleaseMemoryReserve() noexcept { std::free(g_reserve.exchange(nullptr)); }

void FailOutOfMemory(const std::string& plugin) {
  ReleaseMemoryReserve();
  throw TrialFailure(BP_E_OOM_HOST, plugin, "out of memory");
}

}  // namespace backplane
