#include "batch/stop_batch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "record/fields.hpp"
#include "store/out_folder.hpp"

namespace backplane {
namespace {

volatile std::sig_atomic_t asked = 0;

class StopBatchTest : public testing::Test {
 protected:
  StopBatchTest() { std::filesystem::create_directories(out_); }
  ~StopBatchTest() override { std::filesystem::remove_all(out_); }

  // A supervisor that ends after `signals` SIGTERMs, with their number as its exit code.
  pid_t StartSupervisor(int signals) {
    int ready[2];
    EXPECT_EQ(0, pipe(ready));
    const pid_t pid = fork();
    if (pid == 0) {
      struct sigaction action {};
      action.sa_handler = +[](int) { asked = asked + 1; };
      sigaction(SIGTERM, &action, nullptr);
      {
        const OutLock lock(out_);
        [[maybe_unused]] const ssize_t n = write(ready[1], "x", 1);
        while (asked < signals) {
          usleep(1000);
        }
      }
      _exit(asked);
    }
    char byte;
    EXPECT_EQ(1, read(ready[0], &byte, 1));
    close(ready[0]);
    close(ready[1]);
    return pid;
  }
  StopEnd Stop(bool at_once) {
    return StopBatch(out_, at_once, [this](const std::string& text) { said_ += text; });
  }

  std::filesystem::path out_ = std::filesystem::path(testing::TempDir()) / ("stop_batch_test_" + std::to_string(getpid()));
  std::string said_;
};

int ExitCode(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(StopBatchTest, StopsNothingIfNoBatchRuns) {
  EXPECT_EQ(StopEnd::kNothingRan, Stop(false));
  { const OutLock lock(out_); }
  EXPECT_EQ(StopEnd::kNothingRan, Stop(true));
}

TEST_F(StopBatchTest, AsksOnceAndWaits) {
  const pid_t supervisor = StartSupervisor(1);
  EXPECT_EQ(StopEnd::kStopped, Stop(false));
  EXPECT_TRUE(IsFree(out_));
  EXPECT_EQ(1, ExitCode(supervisor));
  EXPECT_THAT(said_, testing::HasSubstr("process " + std::to_string(supervisor)));
}

TEST_F(StopBatchTest, NowSendsASecondSignal) {
  const pid_t supervisor = StartSupervisor(2);
  EXPECT_EQ(StopEnd::kStopped, Stop(true));
  EXPECT_EQ(2, ExitCode(supervisor));
}

TEST_F(StopBatchTest, ProcessThatGotTheSupervisorsPidIsNotHit) {
  ProcessId reused = ThisProcess();  // a SIGTERM would end this test
  ++reused.pid_start;
  std::ofstream(out_ / "lock") << ToJson(reused).dump();
  EXPECT_EQ(StopEnd::kNothingRan, Stop(false));
}

TEST_F(StopBatchTest, NamesASupervisorOnADifferentMachine) {
  ProcessId far = ThisProcess();
  far.hostname = "elsewhere.invalid";
  std::ofstream(out_ / "lock") << ToJson(far).dump();
  const int lock = open((out_ / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, flock(lock, LOCK_EX));
  EXPECT_THROW(Stop(false), std::runtime_error);
  close(lock);
  EXPECT_EQ(StopEnd::kNothingRan, Stop(false));  // a container that is gone
}

}  // namespace
}  // namespace backplane
