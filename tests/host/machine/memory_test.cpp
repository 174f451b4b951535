// On a folder tree that looks like /proc and the mounts it names.
#include "machine/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

class MachineMemoryTest : public testing::Test {
 protected:
  ~MachineMemoryTest() override { std::filesystem::remove_all(root_); }

  void Put(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void HasGiB(uint64_t size) {
    Put("proc/meminfo",
        "MemTotal:       " + std::to_string(size << 20) + " kB\nMemFree:         1024 kB\nHugePages_Total: 0\n");
  }
  void IsInVersion2(const std::string& group) {
    Put("proc/self/cgroup", "0::" + group + "\n");
    Put("proc/self/mountinfo", "30 23 0:26 / " + (root_ / "v2").string() + " rw - cgroup2 cgroup2 rw\n");
  }
  std::optional<uint64_t> Read() const { return MachineMemory(root_ / "proc"); }

  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / ("machine_memory_test_" + std::to_string(getpid()));
};

TEST_F(MachineMemoryTest, WithoutALimitIsTheMachines) {
  HasGiB(64);
  EXPECT_EQ(64 * kGiB, Read());
  IsInVersion2("/a");
  Put("v2/a/memory.max", "max\n");
  EXPECT_EQ(64 * kGiB, Read());
}

TEST_F(MachineMemoryTest, IsTheSmallestLimitOfTheGroupsAbove) {
  HasGiB(64);
  IsInVersion2("/a/b");
  Put("v2/a/b/memory.max", std::to_string(32 * kGiB) + "\n");
  EXPECT_EQ(32 * kGiB, Read());
  Put("v2/a/memory.max", std::to_string(16 * kGiB) + "\n");
  EXPECT_EQ(16 * kGiB, Read());
}

TEST_F(MachineMemoryTest, Version1IsAskedToo) {
  HasGiB(64);
  Put("proc/self/cgroup", "4:memory:/docker/abc\n");
  Put("proc/self/mountinfo", "31 23 0:27 /docker/abc " + (root_ / "v1").string() + " rw - cgroup cgroup rw,memory\n");
  Put("v1/memory.limit_in_bytes", std::to_string(8 * kGiB) + "\n");
  EXPECT_EQ(8 * kGiB, Read());
  Put("v1/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(64 * kGiB, Read());
}

TEST_F(MachineMemoryTest, IsAbsentWhereTheKernelDoesNotTell) { EXPECT_EQ(std::nullopt, Read()); }

}  // namespace
}  // namespace backplane
