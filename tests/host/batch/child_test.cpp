#include "base/child.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "record/status_reader.hpp"

namespace backplane {
namespace {

class ChildTest : public testing::Test {
 protected:
  ChildTest() { std::filesystem::create_directories(folder_); }
  ~ChildTest() override { std::filesystem::remove_all(folder_); }

  ChildCommand Shell(const std::string& script) {
    return {"/bin/sh", {"-c", script}, {"OMP_NUM_THREADS=1"}, folder_ / "stdout.log", folder_ / "stderr.log", {}};
  }
  ChildExit Run(const std::string& script) { return Child(Shell(script)).Wait(-1).value(); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("child_test_" + std::to_string(getpid()));
};

TEST_F(ChildTest, LogsEnvironmentAndExitCodeArrive) {
  EXPECT_EQ(103, Run("echo $OMP_NUM_THREADS; echo oops >&2; cat; exit 103").code);
  EXPECT_EQ("1\n", ReadFile(folder_ / "stdout.log"));
  EXPECT_THAT(LastLines(folder_ / "stderr.log", 10), testing::ElementsAre("oops"));
}

TEST_F(ChildTest, DeathBySignalIsSeen) { EXPECT_EQ(SIGSEGV, Run("kill -SEGV $$").signal); }

TEST_F(ChildTest, SignalReachesTheWholeGroup) {
  Child child(Shell("sleep 600 & wait"));
  child.Signal(SIGKILL);
  EXPECT_EQ(SIGKILL, child.Wait(-1)->signal);
}

TEST_F(ChildTest, StartKeepsSignalMaskOfThisThread) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Run("true");
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

TEST_F(ChildTest, ReportsMissingProgram) {
  ChildCommand command = Shell("");
  command.program = folder_ / "nothing";
  EXPECT_THROW(Child{command}, std::runtime_error);
}

TEST_F(ChildTest, RejectsFileThatCannotBeExecuted) {
  ChildCommand command = Shell("");
  command.program = folder_ / "no_program";
  std::ofstream(command.program) << "\x01\x02";
  std::filesystem::permissions(command.program, std::filesystem::perms::owner_all);
  EXPECT_THAT([&] { Child{command}; }, testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("Exec format error")));
}

TEST_F(ChildTest, DoesNotStartOutsideItsControlGroup) {
  const int refuses = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_THAT([&] { Child(Shell("echo ran"), {.cgroup_procs_fd = refuses}); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("control group: Bad file descriptor")));
  close(refuses);
  EXPECT_EQ("", ReadFile(folder_ / "stdout.log"));
}

TEST_F(ChildTest, EndsProcessesLeftInItsGroup) {
  int alive[2];  // the background process holds the other end; reading ends with it
  ASSERT_EQ(0, pipe2(alive, O_CLOEXEC));
  ChildCommand command = Shell("sleep 600 &");
  command.inherit_fds = {alive[1]};
  Child child(command);
  close(alive[1]);
  EXPECT_EQ(0, child.Wait(-1)->code);
  char byte;
  EXPECT_EQ(0, read(alive[0], &byte, 1));
  close(alive[0]);
}

TEST_F(ChildTest, StatusIsReadFromTheMappedFile) {
  StatusFile written{};
  std::copy_n(kStatusMagic, 8, written.magic);
  written.heartbeat = 5;
  std::ofstream(folder_ / "status", std::ios::binary).write(reinterpret_cast<const char*>(&written), sizeof written);
  EXPECT_EQ(5u, StatusReader(folder_ / "status").Read()->heartbeat);
}

}  // namespace
}  // namespace backplane
