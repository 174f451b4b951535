#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "fake_host.hpp"
#include "proc.hpp"

namespace backplane::resources {
namespace {

namespace fs = std::filesystem;

// A folder that stands for the root of a machine.
class Machine : public ::testing::Test {
 protected:
  Machine() : root_(fs::path(::testing::TempDir()) / ("machine-" + std::to_string(getpid()))) { fs::remove_all(root_); }
  ~Machine() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_;
};

std::string Stat(const std::string& name, int parent, int user, int system) {
  return "7 (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " + std::to_string(user) + " " +
         std::to_string(system) + " 0 0 20 0 1 0 0";
}

TEST_F(Machine, NamesWithSpacesAndParenthesesDoNotShiftTheFields) {
  ProcStat stat;
  ASSERT_TRUE(ParseStat(Stat("a) R (b 1 2", 42, 30, 12), &stat));
  EXPECT_EQ(stat.parent, 42);
  EXPECT_EQ(stat.cpu_ticks, 42);
  EXPECT_FALSE(ParseStat("", &stat));
  EXPECT_FALSE(ParseStat("7 (x) S 1", &stat));
}

TEST_F(Machine, TheTreeIsAProcessAndItsDescendants) {
  Write("proc/10/stat", Stat("root", 1, 100, 0)), Write("proc/10/status", "VmHWM:\t 4096 kB\nVmRSS:\t 2048 kB\n");
  Write("proc/10/task/10/schedstat", "5 1000000000 3"), Write("proc/10/task/11/schedstat", "5 500000000 3");
  Write("proc/9/stat", Stat("grandchild", 20, 50, 0)), Write("proc/20/stat", Stat("child", 10, 50, 0));
  Write("proc/30/stat", Stat("stranger", 1, 900, 0)), Write("proc/version", "x");
  const TreeUsage usage = ReadTree(10, root_ / "proc");
  EXPECT_EQ(usage.processes, 3);
  EXPECT_NEAR(usage.cpu_s, 200.0 / static_cast<double>(sysconf(_SC_CLK_TCK)), 1e-9);
  EXPECT_EQ(usage.rss_mb, 2);
  EXPECT_EQ(usage.rss_peak_mb, 4);
  EXPECT_NEAR(usage.run_queue_wait_s, 1.5, 1e-9);
}

TEST_F(Machine, TheSmallestV2QuotaOfLeafAndAncestorsCounts) {
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n"), Write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(CgroupCpus(root_), 1.5);
}

TEST_F(Machine, AV1QuotaIsReadFromTheCpuHierarchy) {
  Write("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/c\n0::/\n");
  Write("proc/self/mountinfo", "31 20 0:27 /docker/c /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  Write("cg/cpu/cpu.cfs_quota_us", "250000\n"), Write("cg/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(CgroupCpus(root_), 2.5);
}

TEST_F(Machine, NoCgroupMeansNoLimit) { EXPECT_TRUE(std::isinf(CgroupCpus(root_))); }

TEST_F(Machine, WritesOneRowPerSampleAfterTheFirstAndThinsWhenFull) {
  fs::create_directories(root_);
  backplane::testing::FakeHost host(*bp_module_v1()->descriptor(0), {{"max_rows", "4"}});
  const auto* api = static_cast<const bp_monitor_api*>(bp_module_v1()->api("monitor.resources"));
  bp_monitor* monitor = nullptr;
  ASSERT_EQ(api->create(&host.host, &host.config, &monitor), BP_OK);
  EXPECT_EQ(api->interests(monitor), 0u);
  const auto lines = [&] {
    EXPECT_EQ(api->finish(monitor, root_.c_str()), BP_OK) << host.error;
    std::ifstream file(root_ / "resources.csv");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  for (int64_t s = 1; s <= 4; ++s) EXPECT_EQ(api->sample(monitor, s * 1000000000), BP_OK) << host.error;
  EXPECT_EQ(lines(), 1 + 3);
  EXPECT_EQ(api->sample(monitor, 5000000000), BP_OK);
  EXPECT_EQ(lines(), 1 + 2);
  EXPECT_EQ(api->finish(monitor, "/nonexistent"), BP_E_IO);
  api->destroy(monitor);
}

TEST(Resources, ThisProcessUsesMemoryAndSomeCpus) {
  EXPECT_GT(ReadTree(getpid()).rss_mb, 0.5);
  EXPECT_GT(EffectiveCpus(), 0);
}

}  // namespace
}  // namespace backplane::resources
