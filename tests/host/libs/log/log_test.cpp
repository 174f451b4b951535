// Lines on stderr are printed as they are; lines of a session's file begin with the time of day and the level.
#include "log/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <functional>

#include "base/files.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LogTest : public testing::Test {
 protected:
  LogTest() { fs::remove_all(file_.parent_path()); }
  ~LogTest() override { fs::remove_all(file_.parent_path()); }
  std::string InFile() const { return ReadFile(file_).value_or(""); }

  const fs::path file_ = fs::path(testing::TempDir()) / ("log_" + std::to_string(getpid())) / "logs" / "session-1.log";
};

std::string OnTerminal(const std::function<void()>& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST_F(LogTest, StderrHasTheTextAsItIs) {
  EXPECT_EQ("a {} % line\n", OnTerminal([] { Log(LogLevel::kInfo, "a {} % line"); }));
  EXPECT_EQ("backplane: no 'x'\nnothing was started\n",
            OnTerminal([] { LogError("backplane: no '{}'\nnothing was started", 'x'); }));
}

TEST_F(LogTest, TheFileOfASessionHasTimeAndLevelAndMore) {
  const std::string shown = OnTerminal([this] {
    const SessionLog session(file_);
    LogWarning("warning: {}", "hot");
    LogToFile(LogLevel::kInfo, "in the file alone");
    Log(LogLevel::kDebug, "a detail");
  });
  EXPECT_EQ("warning: hot\n", shown);
  const std::string time = "[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+\\.[0-9]+ ";
  EXPECT_THAT(InFile(), MatchesRegex(time + "warning warning: hot\n" + time + "info    in the file alone\n" + time +
                                     "debug   a detail\n"));
  OnTerminal([] { LogInfo("after its end"); });
  EXPECT_THAT(InFile(), Not(HasSubstr("after its end")));
}

TEST_F(LogTest, ChildrenDoNotInheritTheFile) {
  const int next = dup(STDERR_FILENO);  // the number that the file gets
  close(next);
  const SessionLog session(file_);
  ASSERT_EQ(fs::weakly_canonical(file_), fs::read_symlink("/proc/self/fd/" + std::to_string(next)));
  EXPECT_EQ(FD_CLOEXEC, fcntl(next, F_GETFD));
}

TEST_F(LogTest, WarnsOnceIfTheFileCannotBeWritten) {
  const std::string shown = OnTerminal([] {
    const SessionLog session("/dev/full");
    LogToFile(LogLevel::kInfo, "one");
    LogToFile(LogLevel::kInfo, "two");
  });
  EXPECT_THAT(shown, MatchesRegex("warning: the session is not logged: [^\n]*No space left on device\n"));
  const std::string refused = OnTerminal([] {
    const SessionLog session("/proc/self/stat/session-1.log");
    LogInfo("on it goes");
  });
  EXPECT_THAT(refused, MatchesRegex("warning: the session is not logged: [^\n]*\non it goes\n"));
}

TEST_F(LogTest, PrintsDebugLinesOnRequest) {
  EXPECT_FALSE(ShowsDebug());
  EXPECT_EQ("", OnTerminal([] { Log(LogLevel::kDebug, "a detail"); }));
  ShowDebug();
  EXPECT_TRUE(ShowsDebug());
  EXPECT_EQ("a detail\n", OnTerminal([] { Log(LogLevel::kDebug, "a detail"); }));
}

}  // namespace
}  // namespace backplane
