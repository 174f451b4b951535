#include "machine/memory.hpp"

#include "host/libs/machine/fake_machine.hpp"

namespace backplane {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

std::string GiB(uint64_t size) { return std::to_string(size * kGiB) + "\n"; }

class MachineMemoryTest : public FakeMachine {
 protected:
  void HasGiB(uint64_t size, uint64_t available = 0) {
    Put("proc/meminfo", "MemTotal:       " + std::to_string(size << 20) + " kB\nMemFree:         1024 kB\nMemAvailable:   " +
                            std::to_string(available << 20) + " kB\nHugePages_Total: 0\n");
  }
  std::optional<uint64_t> Read() const { return MachineMemory(proc()); }
  std::optional<double> UsedOfLimitPct() const {
    const auto limited = LimitedMemory::Find(proc());
    return limited ? limited->UsedPct() : std::nullopt;
  }
};

TEST_F(MachineMemoryTest, DefaultsToTheMachine) {
  HasGiB(64);
  EXPECT_EQ(64 * kGiB, Read());
  IsInVersion2("/a");
  Put("v2/a/memory.max", "max\n");
  EXPECT_EQ(64 * kGiB, Read());
}

TEST_F(MachineMemoryTest, IsTheSmallestLimitOfTheGroupsAbove) {
  HasGiB(64);
  IsInVersion2("/a/b");
  Put("v2/a/b/memory.max", GiB(32));
  EXPECT_EQ(32 * kGiB, Read());
  Put("v2/a/memory.max", GiB(16));
  EXPECT_EQ(16 * kGiB, Read());
}

TEST_F(MachineMemoryTest, ReadsVersion1) {
  HasGiB(64);
  Put("proc/self/cgroup", "4:memory:/docker/abc\n");
  Put("proc/self/mountinfo", "31 23 0:27 /docker/abc " + (root_ / "v1").string() + " rw - cgroup cgroup rw,memory\n");
  Put("v1/memory.limit_in_bytes", GiB(8));
  EXPECT_EQ(8 * kGiB, Read());
  Put("v1/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(64 * kGiB, Read());
}

TEST_F(MachineMemoryTest, IsAbsentIfTheKernelOmitsIt) {
  EXPECT_EQ(std::nullopt, Read());
  EXPECT_EQ(std::nullopt, MachineMemoryUsedPct(proc()));
}

TEST_F(MachineMemoryTest, UsedMemoryExcludesAvailableMemory) {
  HasGiB(64, 48);
  EXPECT_EQ(25, MachineMemoryUsedPct(proc()));
  HasGiB(64, 80);
  EXPECT_EQ(0, MachineMemoryUsedPct(proc())) << "as in LXC";
}

TEST_F(MachineMemoryTest, UseIsTheLeafsAndTheLimitTheSmallestAbove) {
  HasGiB(64);
  IsInVersion2("/a/b");
  Put("v2/a/memory.max", GiB(16)), Put("v2/a/memory.current", GiB(12));
  Put("v2/a/b/memory.max", "max\n"), Put("v2/a/b/memory.current", GiB(8));
  EXPECT_EQ(50, UsedOfLimitPct());
  Put("v2/a/b/memory.stat", "anon 5\ninactive_file " + GiB(4) + "active_file 3\n");
  EXPECT_EQ(25, UsedOfLimitPct()) << "pages the kernel drops before it fails";
}

TEST_F(MachineMemoryTest, Version1AndTheHybridLayoutHaveOtherNames) {
  HasGiB(64);
  IsInVersion1("/c");
  Put("v1/c/memory.limit_in_bytes", GiB(16)), Put("v1/c/memory.usage_in_bytes", GiB(8));
  Put("v1/c/memory.stat", "inactive_file 7\ntotal_inactive_file " + GiB(4));
  EXPECT_EQ(25, UsedOfLimitPct());
  IsInHybrid("/c");
  EXPECT_EQ(25, UsedOfLimitPct());
}

TEST_F(MachineMemoryTest, AvailableIsWhatMachineAndGroupLeave) {
  EXPECT_EQ(std::nullopt, AvailableMemory(proc()));
  HasGiB(64, 48);
  EXPECT_EQ(48 * kGiB, AvailableMemory(proc()));
  IsInVersion2("/a/b");
  Put("v2/a/memory.max", GiB(16));
  Put("v2/a/b/memory.current", GiB(12));
  Put("v2/a/b/memory.stat", "inactive_file " + GiB(4));
  EXPECT_EQ(8 * kGiB, AvailableMemory(proc()));
  HasGiB(64, 2);
  EXPECT_EQ(2 * kGiB, AvailableMemory(proc()));
}

TEST_F(MachineMemoryTest, IgnoresGroupsWithoutALimitBelowTheMachines) {
  HasGiB(64);
  IsInVersion1("/c");
  Put("v1/c/memory.limit_in_bytes", "9223372036854771712\n"), Put("v1/c/memory.usage_in_bytes", GiB(8));
  EXPECT_EQ(std::nullopt, UsedOfLimitPct());
}

}  // namespace
}  // namespace backplane
