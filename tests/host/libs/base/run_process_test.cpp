#include "base/run_process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace backplane {
namespace {

using namespace std::chrono_literals;

ProcessCall Shell(const std::string& script) { return {{"sh", "-c", script}}; }

TEST(RunProcess, WritesInputAndReadsBothOutputs) {
  ProcessCall call = Shell("cat; echo said >&2; exit 3");
  call.input = std::string(1 << 20, 'x');  // more than a pipe holds
  const ProcessEnd end = RunProcess(call);
  EXPECT_TRUE(end.started);
  EXPECT_FALSE(end.ok());
  EXPECT_EQ(3, end.code);
  EXPECT_EQ(call.input, end.out);
  EXPECT_EQ("said\n", end.err);
}

TEST(RunProcess, SucceedsIfTheInputIsNotRead) {
  ProcessCall call{{"true"}};
  call.input = std::string(1 << 20, 'x');
  EXPECT_TRUE(RunProcess(call).ok());
}

// If this program inherits an ignored SIGCHLD, no status of its children arrives.
TEST(RunProcess, EndsIfSigchldIsIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  ProcessCall call = Shell("echo said");
  call.limit = 20s;
  const ProcessEnd end = RunProcess(call);
  std::signal(SIGCHLD, before);
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ("said\n", end.out);
}

TEST(RunProcess, RunsInAFolder) {
  ProcessCall call = Shell("pwd");
  call.folder = "/";
  EXPECT_EQ("/\n", RunProcess(call).out);
}

// Runs a script and cancels it after its SIGUSR2 to this process.
ProcessEnd RunCancelled(const char* script, std::chrono::milliseconds grace) {
  static volatile std::sig_atomic_t asked;
  asked = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = +[](int) { asked = 1; };
  sigaction(SIGUSR2, &action, &before);
  ProcessCall call = Shell(script);
  call.cancelled = [] { return asked != 0; };
  call.grace = grace;
  const ProcessEnd end = RunProcess(call);
  sigaction(SIGUSR2, &before, nullptr);
  return end;
}

TEST(RunProcess, LetsProgramEndAfterACancel) {
  const char* const script = "trap 'echo ended; exit 7' TERM; kill -USR2 $PPID; while :; do sleep 0.01; done";
  const ProcessEnd end = RunCancelled(script, 60s);
  EXPECT_TRUE(end.cancelled);
  EXPECT_FALSE(end.ok());
  EXPECT_EQ(7, end.code);
  EXPECT_EQ("ended\n", end.out);
  EXPECT_EQ(SIGKILL, RunCancelled("trap '' TERM; kill -USR2 $PPID; while :; do sleep 0.01; done", 100ms).signal);
}

TEST(RunProcess, KillsProgramThatIsCancelledWhenASignalCame) {
  const ProcessEnd end = RunCancelled("kill -USR2 $PPID; exec sleep 600", 0s);
  EXPECT_TRUE(end.cancelled);
  EXPECT_FALSE(end.timed_out);
  EXPECT_FALSE(end.ok());
  EXPECT_EQ(SIGKILL, end.signal);
}

TEST(RunProcess, KillsDescendantsOfProgramWhoseTimeIsOver) {
  ProcessCall call = Shell("sleep 600 & echo $!; wait");
  call.limit = 500ms;
  const ProcessEnd end = RunProcess(call);
  EXPECT_TRUE(end.timed_out);
  const std::filesystem::path status = "/proc/" + end.out.substr(0, end.out.find('\n')) + "/stat";
  const auto is_gone = [&] {  // an orphan may stay a zombie until it is reaped
    std::ifstream stat(status);
    std::ostringstream read;  // an iterator would throw if a process ends meanwhile
    read << stat.rdbuf();
    const std::string text = read.str();
    return text.empty() || text.find(") Z ") != std::string::npos;
  };
  for (int i = 0; i < 500 && !is_gone(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(is_gone());
}

TEST(RunProcess, ReportsTheSignal) {
  const ProcessEnd end = RunProcess(Shell("kill -SEGV $$"));
  EXPECT_EQ(SIGSEGV, end.signal);
  EXPECT_FALSE(end.ok());
}

TEST(RunProcess, IsKilledWhenItsTimeIsOver) {
  ProcessCall call{{"sleep", "1000"}};
  call.limit = 50ms;
  const auto begin = std::chrono::steady_clock::now();
  const ProcessEnd end = RunProcess(call);
  EXPECT_TRUE(end.timed_out);
  EXPECT_FALSE(end.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 100s);
}

TEST(RunProcess, ReportsProgramThatCannotStart) {
  const ProcessEnd end = RunProcess({{"/nowhere/at/all"}});
  EXPECT_FALSE(end.started);
  EXPECT_EQ("No such file or directory", end.err);
}

}  // namespace
}  // namespace backplane
