#include "machine/cpu.hpp"

#include <cmath>

#include "host/libs/machine/fake_machine.hpp"

namespace backplane {
namespace {

class CpuTest : public FakeMachine {
 protected:
  double Quota() const { return SmallestCpuQuota(self()).cpus; }
};

TEST_F(CpuTest, Version2UsesTheSmallestOfLeafAndAncestors) {
  IsInVersion2("/a/b");
  Put("v2/a/b/cpu.max", "max 100000\n"), Put("v2/a/cpu.max", "150000 100000\n"), Put("v2/cpu.max", "400000 100000\n");
  EXPECT_EQ(Quota(), 1.5);
  EXPECT_EQ(SmallestCpuQuota(self()).group, root_ / "v2/a");
}

TEST_F(CpuTest, Version1IsReadFromTwoFiles) {
  IsInVersion1("/docker/c");
  Put("v1/docker/c/cpu.cfs_quota_us", "250000\n"), Put("v1/docker/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 2.5);
  Put("v1/docker/c/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(std::isinf(Quota()));
}

TEST_F(CpuTest, InTheHybridLayoutVersion1HasTheQuota) {
  IsInHybrid("/a");
  Put("v1/a/cpu.cfs_quota_us", "300000\n"), Put("v1/a/cpu.cfs_period_us", "100000\n");
  Put("v2/a/cpu.max", "1000 100000\n");
  EXPECT_EQ(Quota(), 3);
}

TEST_F(CpuTest, HasNoLimitWithoutControlGroups) {
  EXPECT_TRUE(std::isinf(Quota()));
  EXPECT_TRUE(SmallestCpuQuota(self()).group.empty());
}

TEST_F(CpuTest, QuotaLimitsEffectiveCpus) {
  IsInVersion2("/");
  const double granted = EffectiveCpus(self());
  EXPECT_GE(granted, 1);
  Put("v2/cpu.max", "50000 100000\n");
  EXPECT_EQ(EffectiveCpus(self()), 0.5);
}

TEST_F(CpuTest, ReadsThrottledPeriodsOfBothVersions) {
  Put("v2/cpu.stat", "usage_usec 900\nnr_periods 40\nnr_throttled 10\nthrottled_usec 5\n");
  Put("v1/cpu.stat", "nr_periods 8\nnr_throttled 2\nthrottled_time 5000\n");
  EXPECT_EQ(ReadThrottling(root_ / "v2")->periods, 40u);
  EXPECT_EQ(ReadThrottling(root_ / "v2")->throttled, 10u);
  EXPECT_EQ(ReadThrottling(root_ / "v1")->throttled, 2u);
  Put("v2/cpu.stat", "usage_usec 900\n");
  EXPECT_FALSE(ReadThrottling(root_ / "v2")) << "the root group has no periods";
}

TEST_F(CpuTest, GuestsAreCountedOnce) {
  Put("proc/stat", "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  const auto before = ReadCpuTimes(proc());
  Put("proc/stat", "cpu  150 0 50 840 60 0 0 0 50 0\n");
  const auto after = ReadCpuTimes(proc());
  ASSERT_TRUE(before && after);
  EXPECT_EQ(BusyPct(*before, *after), 50) << "50 user (a guest's), 40 idle, 10 waiting for a disk";
}

TEST_F(CpuTest, IgnoresTimesThatRunBackwards) {
  const CpuTimes before{100, 0, 0, 500, 90}, after{110, 0, 0, 530, 40};
  EXPECT_EQ(BusyPct(before, after), 25);
  EXPECT_FALSE(BusyPct(before, before));
}

TEST_F(CpuTest, TimesAreAbsentIfTheKernelOmitsThem) { EXPECT_FALSE(ReadCpuTimes(proc())); }

}  // namespace
}  // namespace backplane
