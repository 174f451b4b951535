#include "record/stacks.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace backplane {
namespace {

using testing::ElementsAre;

// Replaces addr2line: names every address immediately, except for one library on which it hangs.
class Stacks : public testing::Test {
 protected:
  Stacks() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "addr2line") << "#!/bin/sh\n[ \"$3\" != /lib/large.so ] || exec sleep 60\nshift 3\n"
                                            "for address; do printf '%s\\nStep\\nwalker.cpp:40\\n' \"$address\"; done\n";
    std::filesystem::permissions(folder_ / "addr2line", std::filesystem::perms::owner_all);
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~Stacks() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("stacks_" + std::to_string(getpid()));
  const std::string path_ = getenv("PATH");
};

TEST_F(Stacks, SlowLibraryDelaysNeitherOthersNorTheSupervisor) {
  std::ofstream(folder_ / "stacks") << "thread 7 (walk)\n"
                                       "\t0x10\t\t/lib/large.so\n\t0x20\t\t/lib/walker.so\n\t0x30\t\t/lib/other.so\n"
                                       "\t0x40\tmain\t/bin/host\n";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(ReadStacks(folder_ / "stacks"),
              ElementsAre("thread 7 (walk)", "  0x10, large.so", "  Step (walker.cpp:40), walker.so",
                          "  Step (walker.cpp:40), other.so", "  main, host"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6)) << "two limits";
}

TEST(StackOf, PrefersThreadInsideThePlugin) {
  const std::vector<std::string> stacks = {"thread 1 (backplane)",
                                           "  futex_wait, libc.so.6",
                                           "thread 2 (backplane) in monitor.resources",
                                           "  clock_nanosleep, libc.so.6",
                                           "thread 3 (backplane) in env.walk",
                                           "  futex_wait, libc.so.6",
                                           "thread 4 (backplane) in env.walk",
                                           "  clock_nanosleep, libc.so.6",
                                           "  Walk::Step, env_walk.so",
                                           "thread 5 (backplane) in learner.walk",
                                           "  Learn, learner_walk.so"};
  EXPECT_THAT(StackOf(stacks, "env.walk"),
              ElementsAre("thread 4 (backplane) in env.walk", "  clock_nanosleep, libc.so.6", "  Walk::Step, env_walk.so"));
  EXPECT_THAT(StackOf(stacks, "learner.walk"), ElementsAre("thread 5 (backplane) in learner.walk", "  Learn, learner_walk.so"));
  EXPECT_THAT(StackOf(stacks, "monitor.resources"),
              ElementsAre("thread 2 (backplane) in monitor.resources", "  clock_nanosleep, libc.so.6"));
  EXPECT_EQ(StackOf(stacks, "env.other").front(), "thread 2 (backplane) in monitor.resources") << "the first in any";
  EXPECT_THAT(StackOf({"thread 1 (backplane)", "  main, backplane"}, ""),
              ElementsAre("thread 1 (backplane)", "  main, backplane"));
  EXPECT_TRUE(StackOf({}, "env.walk").empty());
}

}  // namespace
}  // namespace backplane
