#include "machine/cgroup_path.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using testing::ElementsAre;

class CgroupPathTest : public testing::Test {
 protected:
  CgroupPathTest() { std::filesystem::create_directories(proc_); }
  ~CgroupPathTest() override { std::filesystem::remove_all(proc_); }

  void Process(const std::string& groups, const std::string& mounts) {
    std::ofstream(proc_ / "cgroup") << groups;
    std::ofstream(proc_ / "mountinfo") << mounts;
  }
  std::string Own(const std::string& controller) const {
    const auto found = FindCgroup(controller, proc_);
    return found ? found->own.string() : "absent";
  }

  std::filesystem::path proc_ = std::filesystem::path(testing::TempDir()) / ("cgroup_path_test_" + std::to_string(getpid()));
};

TEST_F(CgroupPathTest, Version2HasOneHierarchy) {
  Process("0::/user.slice/run.scope\n",
          "25 1 0:23 / /proc rw - proc proc rw\n30 23 0:26 / /cg/unified rw shared:9 - cgroup2 cgroup2 rw\n");
  EXPECT_EQ("/cg/unified/user.slice/run.scope", Own(""));
  EXPECT_EQ("absent", Own("memory"));
  EXPECT_THAT(LimitingCgroups("memory", proc_),
              ElementsAre("/cg/unified/user.slice/run.scope", "/cg/unified/user.slice", "/cg/unified"));
}

TEST_F(CgroupPathTest, Version1HasOneForEachSetOfControllers) {
  Process(
      "5:cpuset:/a\n4:cpu,cpuacct:/b/c\n1:name=systemd:/d\n0::/d\n",
      "30 23 0:26 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n31 23 0:27 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  EXPECT_EQ("/cg/cpu,cpuacct/b/c", Own("cpu"));
  EXPECT_EQ("absent", Own("")) << "it is not mounted";
  EXPECT_THAT(LimitingCgroups("cpu", proc_), ElementsAre("/cg/cpu,cpuacct/b/c", "/cg/cpu,cpuacct/b", "/cg/cpu,cpuacct"));
}

TEST_F(CgroupPathTest, RemovesTheContainersRootFromThePath) {
  const std::string mount = " /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n";
  Process("4:memory:/docker/abc/inner\n", "31 23 0:27" + mount);
  EXPECT_EQ("/cg/memory/inner", Own("memory"));
  Process("4:memory:/docker/abc\n", "31 23 0:27" + mount);
  EXPECT_EQ("/cg/memory", Own("memory"));
  EXPECT_THAT(LimitingCgroups("memory", proc_), ElementsAre("/cg/memory"));
}

TEST_F(CgroupPathTest, SkipsMountsWithoutTheGroup) {
  Process("0::/docker/abcdef\n",
          "30 23 0:26 /docker/abc /other rw - cgroup2 cgroup2 rw\n31 23 0:26 /docker/abcdef /cg/unified rw - cgroup2 "
          "cgroup2 rw\n");
  EXPECT_EQ("/cg/unified", Own(""));
}

TEST_F(CgroupPathTest, GroupWithoutAMountIsAbsent) {
  Process("0::/\n", "30 23 0:26 /../.. /cg/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ("absent", Own(""));
  EXPECT_THAT(LimitingCgroups("memory", proc_), ElementsAre());
  Process("0::/../other\n", "30 23 0:26 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ("absent", Own(""));
}

TEST_F(CgroupPathTest, Version2WithoutControllersDoesNotCount) {
  const std::filesystem::path v2 = proc_ / "unified";
  std::filesystem::create_directories(v2);
  Process("4:memory:/a\n0::/a\n",
          "30 23 0:26 / " + v2.string() + " rw - cgroup2 cgroup2 rw\n31 23 0:27 / /cg/memory rw - cgroup cgroup rw,memory\n");
  std::ofstream(v2 / "cgroup.controllers") << "memory\n";
  EXPECT_EQ((v2 / "a").string(), Own(""));
  std::ofstream(v2 / "cgroup.controllers") << "\n";
  EXPECT_EQ("absent", Own(""));
  EXPECT_EQ("/cg/memory/a", Own("memory"));
  EXPECT_THAT(LimitingCgroups("memory", proc_), ElementsAre("/cg/memory/a", "/cg/memory"));
}

TEST_F(CgroupPathTest, IsAbsentWithoutControlGroups) {
  EXPECT_EQ("absent", Own(""));
  EXPECT_EQ("absent", Own("cpu"));
}

}  // namespace
}  // namespace backplane
