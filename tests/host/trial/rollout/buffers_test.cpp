#include "rollout/buffers.hpp"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace backplane {
namespace {

// The flags of the mapping that contains `place`, as the kernel reports them.
std::string FlagsOf(const void* place) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
      here = begin <= reinterpret_cast<uintptr_t>(place) && reinterpret_cast<uintptr_t>(place) < end;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(Buffers, UseLargePagesFromTheirSizeOn) {
  constexpr uint64_t kLargePage = 2 << 20;
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "the kernel has no large pages";
  const AlignedBytes large = AllocateAligned(2 * kLargePage + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.get()) % kLargePage, 0u);
  EXPECT_NE(FlagsOf(large.get()).find(" hg "), std::string::npos) << FlagsOf(large.get());
  EXPECT_EQ(FlagsOf(large.get() + 2 * kLargePage).find(" hg "), std::string::npos) << "the rest is no whole page";
  const AlignedBytes small = AllocateAligned(kLargePage - 64);
  EXPECT_EQ(FlagsOf(small.get()).find(" hg "), std::string::npos) << FlagsOf(small.get());
}

}  // namespace
}  // namespace backplane
