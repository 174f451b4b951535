#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "supervise/watch.hpp"

namespace backplane {
namespace {

class ChildTest : public testing::Test {
 protected:
  ChildTest() { std::filesystem::create_directories(folder_); }
  ~ChildTest() override { std::filesystem::remove_all(folder_); }

  ChildCommand Shell(const std::string& script) {
    return {"/bin/sh", {"-c", script}, {"OMP_NUM_THREADS=1"}, folder_ / "stdout.log", folder_ / "stderr.log", -1};
  }
  Watched Watch(const std::string& script, const WatchLimits& limits) {
    StatusReader status(folder_ / "status");
    Child child(Shell(script));
    return WatchTrial(child, status, limits, nullptr);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("child_test_" + std::to_string(getpid()));
};

TEST_F(ChildTest, LogsEnvironmentAndExitCodeArrive) {
  const Watched seen = Watch("echo $OMP_NUM_THREADS; echo oops >&2; cat; exit 103", {});
  EXPECT_EQ(103, seen.exit.code);
  EXPECT_EQ("1\n", ReadFile(folder_ / "stdout.log"));
  EXPECT_THAT(LastLines(folder_ / "stderr.log", 10), testing::ElementsAre("oops"));
}

TEST_F(ChildTest, DeathBySignalIsSeen) { EXPECT_EQ(SIGSEGV, Watch("kill -SEGV $$", {}).exit.signal); }

TEST_F(ChildTest, NoSignOfLifeIsAHang) {
  const Watched seen = Watch("trap 'echo asked >&2' USR1; while :; do sleep 0.05; done", {.hang_timeout_s = 0.3});
  EXPECT_EQ(StopReason::kHang, seen.stop);
  EXPECT_EQ(SIGKILL, seen.exit.signal);
  EXPECT_THAT(LastLines(folder_ / "stderr.log", 10), testing::Contains("asked"));
  EXPECT_LT(seen.wall_s, 10);
}

TEST_F(ChildTest, WallTimeAsksFirstAndKillsLater) {
  const Watched polite = Watch("trap 'exit 75' TERM; while :; do sleep 0.05; done", {.wall_time_s = 0.3});
  EXPECT_EQ(StopReason::kWallTime, polite.stop);
  EXPECT_EQ(75, polite.exit.code);
  const Watched deaf = Watch("trap '' TERM; while :; do sleep 0.05; done", {.wall_time_s = 0.3, .save_grace_s = 0.3});
  EXPECT_EQ(SIGKILL, deaf.exit.signal);
}

TEST_F(ChildTest, FirstInterruptAsksSecondKills) {
  const InterruptScope scope;
  raise(SIGINT);
  EXPECT_EQ(75, Watch("trap 'exit 75' TERM; while :; do sleep 0.05; done", {}).exit.code);
  raise(SIGINT);
  const Watched seen = Watch("trap '' TERM; while :; do sleep 0.05; done", {});
  EXPECT_EQ(SIGKILL, seen.exit.signal);
  EXPECT_EQ(StopReason::kInterrupt, seen.stop);
}

TEST_F(ChildTest, ProgramThatIsNotThereIsASentence) {
  ChildCommand command = Shell("");
  command.program = folder_ / "nothing";
  EXPECT_THROW(Child{command}, std::runtime_error);
}

TEST_F(ChildTest, StatusIsReadFromTheMappedFile) {
  StatusFile written{};
  std::copy_n("BPSTAT1", 8, written.magic);
  written.heartbeat = 5;
  std::ofstream(folder_ / "status", std::ios::binary).write(reinterpret_cast<const char*>(&written), sizeof written);
  EXPECT_EQ(5u, Watch("exit 0", {}).last->heartbeat);
}

}  // namespace
}  // namespace backplane
