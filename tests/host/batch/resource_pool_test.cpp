#include "batch/resource_pool.hpp"

#include <gmock/gmock.h>

#include <set>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint64_t kGiB = 1ull << 30;

// Cores with one sibling each (0 and 1, 2 and 3, ...) on one node.
Machine Smt(int cores, unsigned gpus = 0) {
  Machine machine;
  for (int cpu = 0; cpu < cores; ++cpu) {
    machine.cpus.push_back({cpu, cpu / 2 * 2, 0});
  }
  machine.granted_cores = static_cast<unsigned>(cores);
  for (unsigned i = 0; i < gpus; ++i) {
    machine.gpus.push_back({i, "GPU-" + std::string(1, static_cast<char>('a' + i)), "Fake", 8 * kGiB});
  }
  return machine;
}

ResourceConfig Cpus(uint64_t count) {
  ResourceConfig resources;
  resources.cpus = count;
  return resources;
}

ResourceConfig Gpus(double share, uint64_t cpus = 1) {
  ResourceConfig resources = Cpus(cpus);
  resources.gpus = share;
  return resources;
}

template <typename Call>
std::string Complaint(const Call& call) {
  try {
    call();
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ResourcePool, AutoIsAllCoresForOneTrial) {
  ResourcePool resource_pool(Smt(8), {});
  EXPECT_THAT(resource_pool.Take({}, false)->cores, SizeIs(8));
  EXPECT_FALSE(resource_pool.Take({}, false));
}

TEST(ResourcePool, AutoIsTheShareOfEachJob) {
  ResourcePool resource_pool(Smt(8), {.jobs = 4});
  std::set<int> cores;
  for (int i = 0; i < 4; ++i) {
    const Allocation allocation = *resource_pool.Take({}, false);
    EXPECT_THAT(allocation.cores, SizeIs(2));
    EXPECT_EQ(allocation.cores[0] / 2, allocation.cores[1] / 2) << "siblings go together";
    cores.insert(allocation.cores.begin(), allocation.cores.end());
  }
  EXPECT_THAT(cores, SizeIs(8));
  EXPECT_FALSE(resource_pool.Take({}, false));
}

TEST(ResourcePool, MoreJobsThanCoresRunAsManyAsThereAreCores) {
  ResourcePool resource_pool(Smt(2), {.jobs = 8});
  EXPECT_TRUE(resource_pool.Take({}, false));
  EXPECT_TRUE(resource_pool.Take({}, false));
  EXPECT_FALSE(resource_pool.Take({}, false));
}

TEST(ResourcePool, GivenNumberOfCoresRunsAsManyTrialsAsFit) {
  ResourcePool resource_pool(Smt(8), {});
  EXPECT_TRUE(resource_pool.Take(Cpus(3), false));
  const Allocation second = *resource_pool.Take(Cpus(3), false);
  EXPECT_FALSE(resource_pool.Take(Cpus(3), false));
  EXPECT_TRUE(resource_pool.Take(Cpus(2), false));
  resource_pool.Give(second);
  EXPECT_EQ(second.cores, resource_pool.Take(Cpus(3), false)->cores);
}

TEST(ResourcePool, JobsIsTheMost) {
  ResourcePool resource_pool(Smt(8), {.jobs = 2});
  EXPECT_TRUE(resource_pool.Take(Cpus(1), false));
  EXPECT_TRUE(resource_pool.Take(Cpus(1), false));
  EXPECT_FALSE(resource_pool.Take(Cpus(1), false));
}

TEST(ResourcePool, QuotaGivesWholeCoresOfTheMask) {
  Machine machine = Smt(8);
  machine.granted_cores = 4;
  ResourcePool resource_pool(machine, {});
  EXPECT_THAT(resource_pool.Take({}, false)->cores, ElementsAre(0, 1, 2, 3));
}

TEST(ResourcePool, ExclusiveRunsAlone) {
  ResourcePool resource_pool(Smt(8), {});
  const Allocation other = *resource_pool.Take(Cpus(1), false);
  EXPECT_FALSE(resource_pool.Take(Cpus(1), true));
  resource_pool.Give(other);
  const Allocation alone = *resource_pool.Take(Cpus(1), true);
  EXPECT_FALSE(resource_pool.Take(Cpus(1), false));
  resource_pool.Give(alone);
  EXPECT_TRUE(resource_pool.Take(Cpus(1), false));
}

TEST(ResourcePool, ExclusiveTrialsWithADeviceOfTheirOwnRunSideBySide) {
  ResourcePool resource_pool(Smt(16, 2), {.jobs = 2});
  const auto first = resource_pool.Take(Gpus(1), true), second = resource_pool.Take(Gpus(1), true);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->gpus, second->gpus);
  EXPECT_FALSE(resource_pool.Take(Gpus(1), true));
  ResourceConfig exclusive = Gpus(1);
  exclusive.exclusive = true;
  EXPECT_THAT(resource_pool.Notes(exclusive, {}), SizeIs(0));
}

TEST(ResourcePool, RejectsMoreCoresThanExist) {
  const ResourcePool resource_pool(Smt(8), {});
  EXPECT_EQ("", Complaint([&] { resource_pool.Require(Cpus(8)); }));
  EXPECT_EQ("resources.cpus: a trial needs 9 cores, but this machine grants 8 (affinity and control group)",
            Complaint([&] { resource_pool.Require(Cpus(9)); }));
}

TEST(ResourcePool, MemoryIsPartOfTheGrant) {
  ResourcePool resource_pool(Smt(2), {});
  ResourceConfig resources;
  resources.memory_bytes = kGiB;
  EXPECT_EQ(kGiB, resource_pool.Take(resources, false)->memory_bytes);
}

ResourceConfig Memory(uint64_t bytes) {
  ResourceConfig resources = Cpus(1);
  resources.memory_bytes = bytes;
  return resources;
}

Machine WithMemory(uint64_t bytes) {
  Machine machine = Smt(16);
  machine.memory_bytes = bytes;
  return machine;
}

TEST(ResourcePool, LimitsOfMemoryFitTogether) {
  ResourcePool resource_pool(WithMemory(64 * kGiB), {});
  const Allocation first = *resource_pool.Take(Memory(32 * kGiB), false);
  EXPECT_TRUE(resource_pool.Take(Memory(16 * kGiB), false));
  EXPECT_FALSE(resource_pool.Take(Memory(17 * kGiB), false));
  EXPECT_TRUE(resource_pool.Take(Memory(16 * kGiB), false));
  EXPECT_FALSE(resource_pool.Take(Memory(1), false));
  EXPECT_TRUE(resource_pool.Take(Cpus(1), false)) << "its need is unknown without a limit";
  resource_pool.Give(first);
  EXPECT_TRUE(resource_pool.Take(Memory(32 * kGiB), false));
}

TEST(ResourcePool, MemoryThatIsNotKnownIsNotCounted) {
  ResourcePool resource_pool(Smt(2), {});
  EXPECT_TRUE(resource_pool.Take(Memory(1024 * kGiB), false));
  EXPECT_TRUE(resource_pool.Take(Memory(1024 * kGiB), false));
}

TEST(ResourcePool, RejectsMoreMemoryThanExists) {
  const ResourcePool resource_pool(WithMemory(6 * kGiB + kGiB / 2), {});
  EXPECT_EQ("", Complaint([&] { resource_pool.Require(Memory(6 * kGiB)); }));
  EXPECT_EQ("resources.memory: a trial needs 8GiB, but this machine grants 6.5 GiB (machine and control group)",
            Complaint([&] { resource_pool.Require(Memory(8 * kGiB)); }));
}

TEST(ResourcePool, MoreThreadsThanCoresAreNoted) {
  const ResourcePool resource_pool(Smt(8), {});
  RolloutConfig rollout;
  EXPECT_THAT(resource_pool.Notes(Cpus(2), rollout), SizeIs(0)) << "auto follows the cores";
  rollout.threads = 2;
  EXPECT_THAT(resource_pool.Notes(Cpus(2), rollout), SizeIs(0));
  rollout.threads = 8;
  EXPECT_THAT(resource_pool.Notes({}, rollout), SizeIs(0)) << "one trial has all cores";
  EXPECT_THAT(resource_pool.Notes(Cpus(2), rollout), ElementsAre("rollout.threads 8 exceeds the 2 cores granted to a trial"));
  EXPECT_THAT(ResourcePool(Smt(8), {.jobs = 8}).Notes({}, rollout),
              ElementsAre("rollout.threads 8 exceeds the 1 core granted to a trial"));
}

TEST(ResourcePool, TrialWithoutAGpuUnderAListOfThemIsNoted) {
  const ResourcePool resource_pool(Smt(8, 1), {.gpus = {{0}}});
  EXPECT_THAT(resource_pool.Notes(Gpus(0), {}), ElementsAre("--gpus has no effect on trials with resources.gpus 0"));
  EXPECT_THAT(resource_pool.Notes(Gpus(1), {}), SizeIs(0));
}

TEST(ResourcePool, ListOfGpusMakesOneTheDefault) {
  EXPECT_EQ((KeyDefaults{{"resources.gpus", 1.0}}), DefaultsUnder({.gpus = {{0}}}));
  EXPECT_EQ(KeyDefaults(), DefaultsUnder({.jobs = 2}));
}

TEST(ResourcePool, TrialThatAsksForNoGpuGetsNone) {
  ResourcePool resource_pool(Smt(2, 2), {});
  EXPECT_THAT(resource_pool.Take({}, false)->gpus, SizeIs(0));
  EXPECT_THAT(ResourcePool(Smt(2, 2), {.gpus = {{0}}}).Take({}, false)->gpus, SizeIs(0));
}

TEST(ResourcePool, SharesFillOneDeviceBeforeTheNext) {
  ResourcePool resource_pool(Smt(16, 2), {});
  std::vector<std::string> uuids;
  for (int i = 0; i < 5; ++i) {
    uuids.push_back(resource_pool.Take(Gpus(0.25), false)->gpus.at(0));
  }
  EXPECT_THAT(uuids, ElementsAre("GPU-a", "GPU-a", "GPU-a", "GPU-a", "GPU-b"));
  EXPECT_FALSE(resource_pool.Take(Gpus(1), false)) << "no whole device is left";
}

TEST(ResourcePool, TenTenthsAreOneDevice) {
  ResourcePool resource_pool(Smt(16, 1), {});
  Allocation last;
  for (int i = 0; i < 10; ++i) {
    last = *resource_pool.Take(Gpus(0.1), false);
  }
  EXPECT_FALSE(resource_pool.Take(Gpus(0.1), false));
  resource_pool.Give(last);
  EXPECT_TRUE(resource_pool.Take(Gpus(0.1), false));
}

TEST(ResourcePool, ShareOfTheDeviceMemoryUnlessTheFileSetsIt) {
  ResourcePool resource_pool(Smt(16, 1), {});
  ResourceConfig quarter = Gpus(0.25);
  const Allocation allocation = *resource_pool.Take(quarter, false);
  EXPECT_EQ(DeviceMemory{.bytes = 2 * kGiB}, resource_pool.MemoryOfDevice(quarter, allocation));
  quarter.device_memory = DeviceMemory{.bytes = kGiB};
  EXPECT_EQ(quarter.device_memory, resource_pool.MemoryOfDevice(quarter, allocation));
  resource_pool.Give(allocation);
  const Allocation whole = *resource_pool.Take(Gpus(1), false);
  EXPECT_EQ(std::nullopt, resource_pool.MemoryOfDevice(Gpus(1), whole));
}

TEST(ResourcePool, ListOfGpusIsADeviceAndItsShareOfTheCoresForEachTrial) {
  ResourcePool resource_pool(Smt(12, 4), {.gpus = {{0, 1, 3}}});
  std::vector<std::string> uuids;
  ResourceConfig one;
  one.gpus = 1;
  while (const auto allocation = resource_pool.Take(one, false)) {
    EXPECT_THAT(allocation->cores, SizeIs(4));
    uuids.insert(uuids.end(), allocation->gpus.begin(), allocation->gpus.end());
  }
  EXPECT_THAT(uuids, ElementsAre("GPU-a", "GPU-b", "GPU-d"));
}

TEST(ResourcePool, ListOfGpusWithSharesRunsSeveralOnEach) {
  ResourcePool resource_pool(Smt(16, 2), {.gpus = {{1}}});
  ResourceConfig half;
  half.gpus = 0.5;
  EXPECT_THAT(resource_pool.Take(half, false)->cores, SizeIs(8));
  EXPECT_THAT(resource_pool.Take(half, false)->gpus, ElementsAre("GPU-b"));
  EXPECT_FALSE(resource_pool.Take(half, false));
}

TEST(ResourcePool, DevicesThatAreNotThereAreNamedWithThoseThatAre) {
  EXPECT_EQ("--gpus: there is no GPU 2; found: 0 (Fake, GPU-a), 1 (Fake, GPU-b)", Complaint([] {
              ResourcePool(Smt(2, 2), {.gpus = {{0, 2}}});
            }));
  EXPECT_THAT(Complaint([] { ResourcePool(Smt(2, 0), {.gpus = {{0}}}); }), HasSubstr("none found"));
  EXPECT_THAT(Complaint([] { ResourcePool(Smt(2, 2), {.gpus = {{1, 1}}}); }), HasSubstr("expected each GPU once, got 1 twice"));
  EXPECT_EQ("resources.gpus: a trial needs 1; none found, or hidden by CUDA_VISIBLE_DEVICES",
            Complaint([] { ResourcePool(Smt(2), {}).Require(Gpus(1)); }));
  EXPECT_THAT(Complaint([] { ResourcePool(Smt(2, 2), {}).Require(Gpus(1.5)); }), HasSubstr("got 1.5"));
}

TEST(ResourcePool, ThisMachineHasCores) {
  ResourcePool resource_pool(ThisMachine(), {});
  EXPECT_THAT(resource_pool.Take({}, false)->cores, SizeIs(resource_pool.cores()));
}

}  // namespace
}  // namespace backplane
