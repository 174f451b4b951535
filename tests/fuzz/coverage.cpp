#include "coverage.hpp"

#include <bit>
#include <cstdint>

extern "C" const char __executable_start;  // set by the linker; addresses minus this one are the same in every run

namespace backplane::fuzz {
namespace {

constexpr size_t kEdges = 1 << 18;
alignas(64) uint8_t passed[kEdges];  // passes of the current input, up to 255
alignas(64) uint8_t known[kEdges];   // a bit per class of counts that some input has reached
uintptr_t last_block = 0;

}  // namespace

void BeginCoverage() {
  __builtin_memset(passed, 0, sizeof passed);
  last_block = 0;
}

size_t NewCoverage() {
  size_t found = 0;
  for (size_t i = 0; i < kEdges; i += sizeof(uint64_t)) {
    uint64_t eight;
    __builtin_memcpy(&eight, passed + i, sizeof eight);
    if (eight == 0) continue;
    for (size_t k = i; k < i + sizeof eight; ++k) {
      if (passed[k] == 0) continue;
      const unsigned width = static_cast<unsigned>(std::bit_width(passed[k]));  // 1: once, 2: 2-3 times, ... 8: 128 and more
      const auto bit = static_cast<uint8_t>(1u << (width - 1));
      found += (known[k] & bit) == 0;
      known[k] = static_cast<uint8_t>(known[k] | bit);
    }
  }
  return found;
}

size_t EdgesSeen() {
  size_t seen = 0;
  for (const uint8_t classes : known) seen += classes != 0;
  return seen;
}

}  // namespace backplane::fuzz

// The address within the program, mixed so that neighbouring blocks use different slots of the table.
extern "C" void __sanitizer_cov_trace_pc() {
  using namespace backplane::fuzz;
  const uintptr_t at =
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - reinterpret_cast<uintptr_t>(&__executable_start);
  const uintptr_t block = (at * 0x9E3779B97F4A7C15u) >> 40;
  uint8_t& count = passed[(block ^ last_block) % kEdges];
  count = static_cast<uint8_t>(count + (count != 255));
  last_block = block >> 1;  // so that a -> b differs from b -> a, and a -> a from b -> b
}
