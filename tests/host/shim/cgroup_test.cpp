// The file logic, on a folder tree that looks like a hierarchy. The kernel's part is not tested here: see the header.
#include "shim/cgroup.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/files.hpp"
#include "batch/local_engine.hpp"
#include "places.hpp"

namespace backplane {
namespace {

class CgroupTest : public testing::Test {
 protected:
  CgroupTest() {
    std::filesystem::create_directories(own_);
    Put("cgroup.events", "populated 1\n");
    Put("cgroup.controllers", "cpuset cpu memory pids\n");
    Put("cgroup.subtree_control", "");
    Put("cgroup.procs", "");
  }
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void Put(const std::filesystem::path& file, const std::string& text) { std::ofstream(own_ / file) << text; }
  std::string Get(const std::filesystem::path& file) const { return ReadFile(own_ / file).value_or("absent"); }

  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / ("cgroup_test_" + std::to_string(getpid()));
  std::filesystem::path own_ = root_ / "user.slice/run.scope";
};

TEST_F(CgroupTest, HostMovesIntoALeafBeforeItEnablesControllers) {
  EXPECT_EQ(own_, DelegatedGroup(own_));
  EXPECT_EQ("0", Get("backplane-host/cgroup.procs"));
  EXPECT_THAT(Get("cgroup.subtree_control"), testing::HasSubstr("cpuset"));
}

TEST_F(CgroupTest, EnabledControllersNeedNoMove) {
  Put("cgroup.subtree_control", "memory");
  EXPECT_EQ(own_, DelegatedGroup(own_));
  EXPECT_EQ("absent", Get("backplane-host/cgroup.procs"));
}

TEST_F(CgroupTest, ProcessInTheLeafUsesTheGroupAbove) {
  Put("cgroup.subtree_control", "memory");
  EXPECT_EQ(own_, DelegatedGroup(own_ / "backplane-host"));
}

TEST_F(CgroupTest, StaysUnchangedWithoutTheMemoryController) {
  Put("cgroup.controllers", "hugetlb\n");
  EXPECT_EQ(std::nullopt, DelegatedGroup(own_));
  EXPECT_FALSE(std::filesystem::exists(own_ / "backplane-host"));
}

TEST_F(CgroupTest, DoesNotUseTheRootOfTheHierarchy) {
  std::filesystem::remove(own_ / "cgroup.events");
  EXPECT_EQ(std::nullopt, DelegatedGroup(own_));
}

TEST_F(CgroupTest, RejectedControllersMoveTheHostBack) {
  // The folder cannot be written to, like a file that the kernel rejects while the group contains a different process.
  std::filesystem::remove(own_ / "cgroup.subtree_control");
  std::filesystem::create_directory(own_ / "cgroup.subtree_control");
  EXPECT_EQ(std::nullopt, DelegatedGroup(own_));
  EXPECT_EQ("0", Get("cgroup.procs"));
}

TEST_F(CgroupTest, TrialsGroupHasItsLimitsAndIsKilledAtTheEnd) {
  const std::filesystem::path group = GroupOfShim(own_, 42);
  std::filesystem::create_directory(group);
  std::ofstream(group / "cgroup.controllers") << "cpuset memory";
  {
    const auto trial = TrialGroup::Make(group, 1 << 20, {0, 2});
    ASSERT_TRUE(trial);
    EXPECT_EQ("1048576", ReadFile(group / "memory.max"));
    EXPECT_EQ("0", ReadFile(group / "memory.swap.max"));
    EXPECT_EQ("1", ReadFile(group / "memory.oom.group"));
    EXPECT_EQ("0,2", ReadFile(group / "cpuset.cpus"));
    EXPECT_FALSE(std::filesystem::exists(group / "pids.max"));
    std::ofstream(group / "memory.peak") << "900000\n";
    std::ofstream(group / "memory.events") << "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\n";
    EXPECT_EQ(900000u, trial->PeakBytes());
    EXPECT_FALSE(trial->OomKilled());
    std::ofstream(group / "memory.events") << "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\n";
    EXPECT_TRUE(trial->OomKilled());
  }
  EXPECT_EQ("1", ReadFile(group / "cgroup.kill"));
}

TEST_F(CgroupTest, EngineEndsTheGroupsOfDeadShimsOnly) {
  Put("cgroup.subtree_control", "memory");
  Child shim({"/bin/true", {}, {}, {}, {}, {}});
  while (!shim.Wait(100)) {
  }
  const std::filesystem::path dead = GroupOfShim(own_, shim.pid()), alive = GroupOfShim(own_, getpid());
  for (const std::filesystem::path& group : {dead, alive, own_ / "backplane-trial-x"}) {
    std::filesystem::create_directory(group);
  }
  const LocalEngine engine(BACKPLANE_BINARY_DIR "/bin/backplane", own_);
  EXPECT_EQ("1", ReadFile(dead / "cgroup.kill"));
  EXPECT_FALSE(std::filesystem::exists(alive / "cgroup.kill"));
  EXPECT_FALSE(std::filesystem::exists(own_ / "backplane-trial-x/cgroup.kill"));
}

TEST_F(CgroupTest, ChildIsInTheGroupBeforeItRuns) {
  const std::filesystem::path group = GroupOfShim(own_, 42);
  const auto trial = TrialGroup::Make(group, std::nullopt, {});
  const std::filesystem::path seen = root_ / "seen";
  Child child({"/bin/cat", {(group / "cgroup.procs").string()}, {}, seen, {}, {}}, {.cgroup_procs_fd = trial->procs_fd()});
  while (!child.Wait(100)) {
  }
  EXPECT_EQ("0", ReadFile(seen));
}

TEST_F(CgroupTest, EngineUsesTheDelegatedGroup) {
  LocalEngine engine(BACKPLANE_BINARY_DIR "/bin/backplane", own_);
  TrialCommand command;
  command.child.program = "/bin/true";
  command.allocation.memory_bytes = 64 << 20;
  engine.Start(command);
  std::vector<JobEnd> ended;
  while (ended.empty()) {
    ended = engine.Wait(1000);
  }
  EXPECT_EQ(0, ended[0].exit.code);
  EXPECT_EQ("cgroup", ended[0].memory_enforced_by);
}

TEST_F(CgroupTest, MakeReturnsNullOnFailure) { EXPECT_EQ(nullptr, TrialGroup::Make(own_ / "no/such/parent", 1 << 20, {})); }

}  // namespace
}  // namespace backplane
