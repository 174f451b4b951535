#include "supervise/resources.hpp"

#include <gmock/gmock.h>

#include <set>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint64_t kGiB = 1ull << 30;

// Cores with a sibling each (0 and 1, 2 and 3, ...) at one node.
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

TEST(Slots, AutoIsAllCoresForOneTrial) {
  Slots slots(Smt(8), {});
  EXPECT_THAT(slots.Take({}, false)->cores, SizeIs(8));
  EXPECT_FALSE(slots.Take({}, false));
}

TEST(Slots, AutoIsTheShareOfEachJob) {
  Slots slots(Smt(8), {.jobs = 4});
  std::set<int> cores;
  for (int i = 0; i < 4; ++i) {
    const Grant grant = *slots.Take({}, false);
    EXPECT_THAT(grant.cores, SizeIs(2));
    EXPECT_EQ(grant.cores[0] / 2, grant.cores[1] / 2) << "siblings go together";
    cores.insert(grant.cores.begin(), grant.cores.end());
  }
  EXPECT_THAT(cores, SizeIs(8));
  EXPECT_FALSE(slots.Take({}, false));
}

TEST(Slots, MoreJobsThanCoresRunAsManyAsThereAreCores) {
  Slots slots(Smt(2), {.jobs = 8});
  EXPECT_TRUE(slots.Take({}, false));
  EXPECT_TRUE(slots.Take({}, false));
  EXPECT_FALSE(slots.Take({}, false));
}

TEST(Slots, GivenNumberOfCoresRunsAsManyTrialsAsFit) {
  Slots slots(Smt(8), {});
  EXPECT_TRUE(slots.Take(Cpus(3), false));
  const Grant second = *slots.Take(Cpus(3), false);
  EXPECT_FALSE(slots.Take(Cpus(3), false));
  EXPECT_TRUE(slots.Take(Cpus(2), false));
  slots.Give(second);
  EXPECT_EQ(second.cores, slots.Take(Cpus(3), false)->cores);
}

TEST(Slots, JobsIsTheMost) {
  Slots slots(Smt(8), {.jobs = 2});
  EXPECT_TRUE(slots.Take(Cpus(1), false));
  EXPECT_TRUE(slots.Take(Cpus(1), false));
  EXPECT_FALSE(slots.Take(Cpus(1), false));
}

TEST(Slots, QuotaGivesWholeCoresOfTheMask) {
  Machine machine = Smt(8);
  machine.granted_cores = 4;
  Slots slots(machine, {});
  EXPECT_THAT(slots.Take({}, false)->cores, ElementsAre(0, 1, 2, 3));
}

TEST(Slots, ExclusiveRunsAlone) {
  Slots slots(Smt(8), {});
  const Grant other = *slots.Take(Cpus(1), false);
  EXPECT_FALSE(slots.Take(Cpus(1), true));
  slots.Give(other);
  const Grant alone = *slots.Take(Cpus(1), true);
  EXPECT_FALSE(slots.Take(Cpus(1), false));
  slots.Give(alone);
  EXPECT_TRUE(slots.Take(Cpus(1), false));
}

TEST(Slots, ExclusiveTrialsWithADeviceOfTheirOwnRunSideBySide) {
  Slots slots(Smt(16, 2), {.jobs = 2});
  const auto first = slots.Take(Gpus(1), true), second = slots.Take(Gpus(1), true);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->gpus, second->gpus);
  EXPECT_FALSE(slots.Take(Gpus(1), true));
  ResourceConfig exclusive = Gpus(1);
  exclusive.exclusive = true;
  EXPECT_THAT(slots.Notes(exclusive, {}), SizeIs(0));
}

TEST(Slots, MoreCoresThanThereAreIsASentence) {
  const Slots slots(Smt(8), {});
  EXPECT_EQ("", Complaint([&] { slots.Require(Cpus(8)); }));
  EXPECT_EQ("resources.cpus wants 9 cores for a trial; 8 are granted here (affinity and control group)",
            Complaint([&] { slots.Require(Cpus(9)); }));
}

TEST(Slots, MemoryIsPartOfTheGrant) {
  Slots slots(Smt(2), {});
  ResourceConfig resources;
  resources.memory_bytes = kGiB;
  EXPECT_EQ(kGiB, slots.Take(resources, false)->memory_bytes);
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

TEST(Slots, LimitsOfMemoryFitTogether) {
  Slots slots(WithMemory(64 * kGiB), {});
  const Grant first = *slots.Take(Memory(32 * kGiB), false);
  EXPECT_TRUE(slots.Take(Memory(16 * kGiB), false));
  EXPECT_FALSE(slots.Take(Memory(17 * kGiB), false));
  EXPECT_TRUE(slots.Take(Memory(16 * kGiB), false));
  EXPECT_FALSE(slots.Take(Memory(1), false));
  EXPECT_TRUE(slots.Take(Cpus(1), false)) << "without a limit nothing is known of its need";
  slots.Give(first);
  EXPECT_TRUE(slots.Take(Memory(32 * kGiB), false));
}

TEST(Slots, MemoryThatIsNotKnownIsNotCounted) {
  Slots slots(Smt(2), {});
  EXPECT_TRUE(slots.Take(Memory(1024 * kGiB), false));
  EXPECT_TRUE(slots.Take(Memory(1024 * kGiB), false));
}

TEST(Slots, MoreMemoryThanThereIsIsASentence) {
  const Slots slots(WithMemory(6 * kGiB + kGiB / 2), {});
  EXPECT_EQ("", Complaint([&] { slots.Require(Memory(6 * kGiB)); }));
  EXPECT_EQ("resources.memory wants 8GiB for a trial; there are 6.5 GiB here (machine and control group)",
            Complaint([&] { slots.Require(Memory(8 * kGiB)); }));
}

TEST(Slots, MoreThreadsThanCoresAreNoted) {
  const Slots slots(Smt(8), {});
  RolloutConfig rollout;
  EXPECT_THAT(slots.Notes(Cpus(2), rollout), SizeIs(0)) << "auto follows the cores";
  rollout.threads = 2;
  EXPECT_THAT(slots.Notes(Cpus(2), rollout), SizeIs(0));
  rollout.threads = 8;
  EXPECT_THAT(slots.Notes({}, rollout), SizeIs(0)) << "one trial has all cores";
  EXPECT_THAT(slots.Notes(Cpus(2), rollout), ElementsAre("rollout.threads 8 is more than the 2 cores a trial is granted"));
  EXPECT_THAT(Slots(Smt(8), {.jobs = 8}).Notes({}, rollout),
              ElementsAre("rollout.threads 8 is more than the 1 core a trial is granted"));
}

TEST(Slots, TrialWithoutAGpuUnderAListOfThemIsNoted) {
  const Slots slots(Smt(8, 1), {.gpus = {{0}}});
  EXPECT_THAT(slots.Notes(Gpus(0), {}),
              ElementsAre("--gpus is given, but resources.gpus is 0: such a trial is granted no GPU"));
  EXPECT_THAT(slots.Notes(Gpus(1), {}), SizeIs(0));
}

TEST(Slots, ListOfGpusMakesOneTheDefault) {
  EXPECT_EQ((KeyDefaults{{"resources.gpus", 1.0}}), DefaultsUnder({.gpus = {{0}}}));
  EXPECT_EQ(KeyDefaults(), DefaultsUnder({.jobs = 2}));
}

TEST(Slots, TrialThatAsksForNoGpuGetsNone) {
  Slots slots(Smt(2, 2), {});
  EXPECT_THAT(slots.Take({}, false)->gpus, SizeIs(0));
  EXPECT_THAT(Slots(Smt(2, 2), {.gpus = {{0}}}).Take({}, false)->gpus, SizeIs(0));
}

TEST(Slots, SharesFillOneDeviceBeforeTheNext) {
  Slots slots(Smt(16, 2), {});
  std::vector<std::string> uuids;
  for (int i = 0; i < 5; ++i) {
    uuids.push_back(slots.Take(Gpus(0.25), false)->gpus.at(0));
  }
  EXPECT_THAT(uuids, ElementsAre("GPU-a", "GPU-a", "GPU-a", "GPU-a", "GPU-b"));
  EXPECT_FALSE(slots.Take(Gpus(1), false)) << "no device is whole any more";
}

TEST(Slots, TenTenthsAreOneDevice) {
  Slots slots(Smt(16, 1), {});
  Grant last;
  for (int i = 0; i < 10; ++i) {
    last = *slots.Take(Gpus(0.1), false);
  }
  EXPECT_FALSE(slots.Take(Gpus(0.1), false));
  slots.Give(last);
  EXPECT_TRUE(slots.Take(Gpus(0.1), false));
}

TEST(Slots, ShareOfTheDeviceMemoryUnlessTheFileSetsIt) {
  Slots slots(Smt(16, 1), {});
  ResourceConfig quarter = Gpus(0.25);
  const Grant grant = *slots.Take(quarter, false);
  EXPECT_EQ(2 * kGiB, slots.DeviceMemory(quarter, grant));
  quarter.device_memory_bytes = kGiB;
  EXPECT_EQ(kGiB, slots.DeviceMemory(quarter, grant));
  slots.Give(grant);
  const Grant whole = *slots.Take(Gpus(1), false);
  EXPECT_EQ(std::nullopt, slots.DeviceMemory(Gpus(1), whole));
}

TEST(Slots, ListOfGpusIsADeviceAndItsShareOfTheCoresForEachTrial) {
  Slots slots(Smt(12, 4), {.gpus = {{0, 1, 3}}});
  std::vector<std::string> uuids;
  ResourceConfig one;
  one.gpus = 1;
  while (const auto grant = slots.Take(one, false)) {
    EXPECT_THAT(grant->cores, SizeIs(4));
    uuids.insert(uuids.end(), grant->gpus.begin(), grant->gpus.end());
  }
  EXPECT_THAT(uuids, ElementsAre("GPU-a", "GPU-b", "GPU-d"));
}

TEST(Slots, ListOfGpusWithSharesRunsSeveralOnEach) {
  Slots slots(Smt(16, 2), {.gpus = {{1}}});
  ResourceConfig half;
  half.gpus = 0.5;
  EXPECT_THAT(slots.Take(half, false)->cores, SizeIs(8));
  EXPECT_THAT(slots.Take(half, false)->gpus, ElementsAre("GPU-b"));
  EXPECT_FALSE(slots.Take(half, false));
}

TEST(Slots, DevicesThatAreNotThereAreNamedWithThoseThatAre) {
  EXPECT_EQ("--gpus: there is no GPU 2; found: 0 (Fake, GPU-a), 1 (Fake, GPU-b)", Complaint([] {
              Slots(Smt(2, 2), {.gpus = {{0, 2}}});
            }));
  EXPECT_THAT(Complaint([] { Slots(Smt(2, 0), {.gpus = {{0}}}); }), HasSubstr("none was found"));
  EXPECT_THAT(Complaint([] { Slots(Smt(2, 2), {.gpus = {{1, 1}}}); }), HasSubstr("names GPU 1 twice"));
  EXPECT_EQ("resources.gpus wants 1 for a trial; none was found, or CUDA_VISIBLE_DEVICES hides them",
            Complaint([] { Slots(Smt(2), {}).Require(Gpus(1)); }));
  EXPECT_THAT(Complaint([] { Slots(Smt(2, 2), {}).Require(Gpus(1.5)); }), HasSubstr("found 1.5"));
}

TEST(Slots, ThisMachineHasCores) {
  Slots slots(ThisMachine(), {});
  EXPECT_THAT(slots.Take({}, false)->cores, SizeIs(slots.cores()));
}

}  // namespace
}  // namespace backplane
