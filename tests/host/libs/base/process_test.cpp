#include "base/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/fields.hpp"

namespace backplane {
namespace {

TEST(Process, ThisOneIsAlive) {
  EXPECT_TRUE(IsAlive(ThisProcess()));
  EXPECT_EQ(getpid(), ThisProcess().pid);
}

TEST(Process, DiffersFromALaterOneWithTheSamePid) {
  ProcessId reused = ThisProcess();
  --reused.pid_start;
  EXPECT_FALSE(IsAlive(reused));
}

TEST(Process, NoneSurvivesAStartOfTheMachine) {
  ProcessId before = ThisProcess();
  before.boot_id = "another";
  EXPECT_FALSE(IsAlive(before));
}

TEST(Process, OnADifferentMachineCountsAsAlive) {
  ProcessId far = ThisProcess();
  far.hostname = "elsewhere.invalid";
  far.pid = 0;
  EXPECT_TRUE(IsAlive(far));
}

TEST(Process, EndedZombieIsNotAlive) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  siginfo_t info;
  ASSERT_EQ(0, waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT));
  EXPECT_FALSE(ProcessStart(child));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ProcessStart(child));
}

TEST(Process, IsAbsentInInvalidJson) {
  EXPECT_EQ(getpid(), RecordOrNothing<ProcessId>(ToJson(ThisProcess()))->pid);
  EXPECT_FALSE(RecordOrNothing<ProcessId>(nlohmann::json(14317)));
  EXPECT_FALSE(RecordOrNothing<ProcessId>(nlohmann::json{{"pid", "x"}}));
}

}  // namespace
}  // namespace backplane
