#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/process_tree.hpp"

namespace backplane {
namespace {

TEST(ProcessState, ReadsNameWithBracketsAndSpaces) {
  const auto state = ParseProcessState("4711 (a) R (b) T 1 4711 4711 0 -1");
  ASSERT_TRUE(state);
  EXPECT_EQ(4711, state->pid);
  EXPECT_EQ("a) R (b", state->name);
  EXPECT_EQ('T', state->letter);
  EXPECT_TRUE(state->stopped());
}

TEST(ProcessState, RejectsMalformedText) {
  for (const char* text : {"", "1", "1 (x", "1 (x)", "x (y) R 1", ") ("}) EXPECT_FALSE(ParseProcessState(text)) << text;
}

TEST(ProcessState, DistinguishesStoppedRunningAndEnded) {
  EXPECT_FALSE(StateOf(getpid())->stopped());
  const pid_t pid = fork();
  if (pid == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  waitpid(pid, nullptr, WUNTRACED);
  EXPECT_EQ('T', StateOf(pid)->letter);
  kill(pid, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  EXPECT_TRUE(StateOf(pid)->ended());
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(StateOf(pid));
}

}  // namespace
}  // namespace backplane
