#include "base/interrupt.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>

#include "engine_fixture.hpp"
#include "machine/process_tree.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A process with an InterruptScope; the test reads its stderr.
class InterruptTest : public EngineTest {
 protected:
  ~InterruptTest() override {
    if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
    close(err_[0]);
    close(err_[1]);
  }

  // `body` runs in the child, inside the scope.
  void Start(const std::function<void()>& body) {
    int ready[2];
    ASSERT_EQ(0, pipe2(err_, O_CLOEXEC));
    ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
    pid_ = fork();
    if (pid_ == 0) {
      dup2(err_[1], STDERR_FILENO);
      const InterruptScope scope;
      [[maybe_unused]] const ssize_t n = write(ready[1], "x", 1);
      body();
      _exit(7);
    }
    char byte;
    ASSERT_EQ(1, read(ready[0], &byte, 1));
    close(ready[0]);
    close(ready[1]);
  }
  void Signal(int signal = SIGINT) const { kill(pid_, signal); }
  // Its output until then.
  std::string Said(std::chrono::milliseconds at_most) {
    pollfd readable{err_[0], POLLIN, 0};
    char block[1000];
    if (poll(&readable, 1, static_cast<int>(at_most.count())) != 1) return "";
    return {block, static_cast<size_t>(read(err_[0], block, sizeof block))};
  }
  int ExitCode() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[noreturn]] static void WaitForEver() {
    for (;;) pause();
  }

  static constexpr std::chrono::seconds kLong{20};

  pid_t pid_ = 0;
  int err_[2] = {-1, -1};
};

TEST_F(InterruptTest, AnswersWhileTheLoopIsBusyElsewhere) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Start(WaitForEver);
    Signal(signal);
    EXPECT_THAT(Said(kLong), HasSubstr("stopping; Ctrl-C again ends it immediately"));
    Signal();
    EXPECT_EQ(130, ExitCode());
    close(err_[0]), close(err_[1]);
  }
}

TEST_F(InterruptTest, EndsProcessAndItsChildrenAtTheSecond) {
  // A trial that ignores a stop has ten minutes if its supervisor dies.
  TrialCommand command = Fake({"ignore-term"});
  command.grace_s = 600;
  Start([&] {
    LocalEngine engine(kBackplane);
    engine.Start(command);
    Child sleeper({"/bin/sleep", {"600"}, {mark_}, {}, {}, {}});
    WaitForEver();
  });
  Until([&] { return ReadFile(folder_ / "stdout.log").value_or("").find("ready") != std::string::npos && Left().size() == 3; });
  Signal();
  Signal(SIGTERM);
  EXPECT_EQ(130, ExitCode());
  EXPECT_THAT(Said(kLong), HasSubstr("ended immediately"));
  Until([&] { return Left().empty(); });
}

// A held key repeats within the time for the answer, and must not delay it.
TEST_F(InterruptTest, EndsProcessWhileCtrlCIsHeld) {
  Start(WaitForEver);
  for (int i = 0; i < 20; ++i) {
    Signal();
    usleep(100'000);
  }
  siginfo_t ended{};
  EXPECT_EQ(0, waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT));
  EXPECT_EQ(pid_, ended.si_pid);
  if (ended.si_pid == 0) Signal(SIGKILL);
  EXPECT_EQ(130, ExitCode());
  EXPECT_THAT(Said(kLong), HasSubstr("ended immediately"));
}

TEST_F(InterruptTest, LeavesTheSecondToLoopThatSawIt) {
  Start([] {
    while (InterruptScope::Count() < 2) usleep(1000);
    for (int i = 0; i < 40; ++i) usleep(50'000);  // each may end early
  });
  Signal();
  usleep(50'000);
  Signal();
  EXPECT_EQ(7, ExitCode());
}

TEST_F(InterruptTest, PrintsNothingOnceAcknowledged) {
  Start([] {
    while (InterruptScope::Count() < 1) usleep(1000);
    InterruptScope::Acknowledge();
    for (int i = 0; i < 40; ++i) usleep(50'000);
  });
  Signal();
  EXPECT_EQ(7, ExitCode());
  EXPECT_EQ("", Said(std::chrono::milliseconds(0)));
}

// The pipe is not read: the handler must not wait for its reader.
TEST_F(InterruptTest, EndsProcessWhoseTerminalIsBlocked) {
  Start([] {
    const std::string block(4096, 'x');
    for (;;) [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, block.data(), block.size());
  });
  usleep(200'000);
  Signal();
  usleep(50'000);
  Signal();
  EXPECT_EQ(130, ExitCode());
}

TEST(Interrupts, CountNothingWithoutScope) {
  {
    const InterruptScope scope;
    raise(SIGTERM);
    EXPECT_EQ(1, InterruptScope::Count());
    EXPECT_THROW(Interrupted::ThrowIf(), Interrupted);
  }
  EXPECT_EQ(0, InterruptScope::Count());
  EXPECT_TRUE(InterruptScope::AnyCame());
  EXPECT_NO_THROW(Interrupted::ThrowIf());
}

}  // namespace
}  // namespace backplane
