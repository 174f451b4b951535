#include "batch/local_engine.hpp"

#include <gmock/gmock.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>

#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "batch/outcome.hpp"
#include "engine_fixture.hpp"
#include "machine/cpu.hpp"
#include "machine/process_tree.hpp"
#include "places.hpp"
#include "record/attempt_json.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(EngineTest, StatusOutlivesItsJob) {
  StatusFile written{};
  std::copy_n(kStatusMagic, 8, written.magic);
  written.iteration = 5;
  TrialCommand command = Fake({"sleep"});
  command.status_file = folder_ / "status";
  const JobId job = engine_.Start(command);
  EXPECT_FALSE(engine_.Status(job)) << "the trial has not made it yet";
  std::ofstream(command.status_file, std::ios::binary).write(reinterpret_cast<const char*>(&written), sizeof written);
  ASSERT_TRUE(engine_.Status(job));
  EXPECT_EQ(engine_.Status(job)->iteration, 5u);
  EXPECT_FALSE(engine_.Status(job + 1));
  engine_.Stop(job, StopHow::kKill);
  const JobEnd end = End();
  ASSERT_TRUE(end.status);
  EXPECT_EQ(end.status->iteration, 5u);
  EXPECT_FALSE(Run({"exit", "0"}).status) << "a command without a status file";
}

struct FailureRow {
  std::vector<std::string> arguments;
  int code, signal;
  Outcome outcome;
};

TEST_F(EngineTest, EveryRowOfTheFailureTable) {
  const std::string result = (folder_ / "result.json").string();
  const FailureRow table[] = {{{"result", result, R"({"state": "COMPLETED"})"}, 0, 0, Outcome::kOk},
                              {{"result", result, R"({"state": "PRUNED"})"}, 0, 0, Outcome::kPruned},
                              {{"result", result, R"({"state": "COMPL)"}, 0, 0, Outcome::kPlugin},
                              {{"exit", "0"}, 0, 0, Outcome::kPlugin},
                              {{"exit", "64"}, 64, 0, Outcome::kConfig},
                              {{"exit", "78"}, 78, 0, Outcome::kConfig},
                              {{"exit", "75"}, 75, 0, Outcome::kTemp},
                              {{"exit", "101"}, 101, 0, Outcome::kOom},
                              {{"exit", "102"}, 102, 0, Outcome::kOom},
                              {{"exit", "103"}, 103, 0, Outcome::kNan},
                              {{"exit", "104"}, 104, 0, Outcome::kTimeout},
                              {{"exit", "110"}, 110, 0, Outcome::kPlugin},
                              {{"exit", "139"}, 139, 0, Outcome::kSignal},
                              {{"die", std::to_string(SIGSEGV)}, 0, SIGSEGV, Outcome::kSignal},
                              {{"die", std::to_string(SIGABRT)}, 0, SIGABRT, Outcome::kSignal},
                              {{"die", std::to_string(SIGBUS)}, 0, SIGBUS, Outcome::kSignal},
                              {{"die", std::to_string(SIGFPE)}, 0, SIGFPE, Outcome::kSignal},
                              {{"die", std::to_string(SIGILL)}, 0, SIGILL, Outcome::kSignal},
                              {{"die", std::to_string(SIGKILL)}, 0, SIGKILL, Outcome::kSignal}};
  for (const FailureRow& row : table) {
    std::filesystem::remove(result);
    const JobEnd end = Run(row.arguments);
    EXPECT_EQ(row.code, end.exit.code);
    EXPECT_EQ(row.signal, end.exit.signal);
    Ending ending{end.exit};
    ending.result_state = ReadResult(folder_).state;
    EXPECT_EQ(row.outcome, Classify(ending).outcome) << row.arguments[0] << " " << row.arguments[1];
    EXPECT_GT(end.peak_rss_bytes, 0u);
  }
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, NoProcessOutlivesItsTrial) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"leave-child"}, {"leave-child", "100"}, {"leave-session"}, {"leave-daemon"}, {"close-all"}}) {
    const JobEnd end = Run(arguments);
    EXPECT_EQ(0, end.exit.code) << arguments[0];
    EXPECT_EQ(0, end.exit.signal) << arguments[0];
    EXPECT_THAT(Left(), IsEmpty()) << arguments[0];
  }
}

TEST_F(EngineTest, StoppedTrialSavesAndReturnsItsExitCode) {
  engine_.Stop(StartReady({"save"}), StopHow::kAsk);
  EXPECT_EQ(75, End().exit.code);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, KillsTrialThatIgnoresAStop) {
  engine_.Stop(StartReady({"ignore-term"}), StopHow::kAsk);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, KillEndsHiddenProcesses) {
  engine_.Stop(StartReady({"leave-all-and-sleep"}), StopHow::kKill);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, RequestForStacksReachesTheTrial) {
  engine_.Stop(StartReady({"where"}), StopHow::kWhere);
  EXPECT_EQ(42, End().exit.code);
}

// The signal is pending at the child's first instruction, while it still has the handlers of a supervisor that counts Ctrl-C.
TEST_F(EngineTest, StopRightAfterTheStartIsNotLost) {
  static bool stop_at_birth = false;
  pthread_atfork(nullptr, nullptr, [] {
    if (stop_at_birth) kill(getpid(), SIGTERM);
  });
  const InterruptScope interrupts;
  stop_at_birth = true;
  engine_.Start(Fake({"sleep"}));
  stop_at_birth = false;
  EXPECT_EQ(SIGTERM, End().exit.signal);
  EXPECT_EQ(0, InterruptScope::Count());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, WaitReportsEachEndOnce) {
  std::vector<JobId> started, ended;
  for (int i = 0; i < 5; ++i) {
    started.push_back(engine_.Start(Fake({"exit", "0"})));
  }
  while (ended.size() < started.size()) {
    for (const JobEnd& end : engine_.Wait(1000)) {
      ended.push_back(end.job);
    }
  }
  EXPECT_THAT(ended, testing::UnorderedElementsAreArray(started));
  EXPECT_THAT(engine_.Wait(0), IsEmpty());
}

TEST_F(EngineTest, EnvironmentCoresAndOutputAreTheTrials) {
  TrialCommand command = Fake({"-c", "echo $OMP_NUM_THREADS $WORLD_SIZE [$CUDA_VISIBLE_DEVICES] $RANK; nproc; echo oops >&2"});
  command.child.program = "/bin/sh";
  command.child.environment.push_back("RANK=7");
  command.allocation.gpus = {"GPU-a", "GPU-b"};
  command.allocation.cores = {GrantedCpus().back()};
  engine_.Start(command);
  EXPECT_EQ(0, End().exit.code);
  EXPECT_THAT(LastLines(folder_ / "stdout.log", 10), ElementsAre("1 1 [GPU-a,GPU-b] 7", "1"));
  EXPECT_THAT(LastLines(folder_ / "stderr.log", 10), ElementsAre("oops"));
}

// 200 MB without a newline at the end, then a crash.
TEST_F(EngineTest, EndlessOutputKeepsLogBoundedWithItsLastLine) {
  TrialCommand command = Fake(
      {"-c", "echo first >&2; yes 'much ado about nothing' | head -c 200100000 >&2; printf 'last words' >&2; kill -SEGV $$"});
  command.child.program = "/bin/sh";
  engine_.Start(command);
  EXPECT_EQ(SIGSEGV, End().exit.signal);
  EXPECT_LE(std::filesystem::file_size(folder_ / "stderr.log"), (32u + 4u + 1u) << 20);
  EXPECT_THAT(ReadFile(folder_ / "stderr.log").value(), testing::StartsWith("first\nmuch ado"));
  EXPECT_THAT(LastLines(folder_ / "stderr.log", 2), ElementsAre("much ado about nothing", "last words"));
}

TEST_F(EngineTest, KilledTrialKeepsItsLastOutput) {
  TrialCommand command = Fake({"-c", "yes | head -c 40000000; echo last words; kill -KILL $$"});
  command.child.program = "/bin/sh";
  engine_.Start(command);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(LastLines(folder_ / "stdout.log", 1), ElementsAre("last words"));
}

// One daemon keeps the pipe open, the other prints when it is killed.
TEST_F(EngineTest, LeftoverProcessesDelayNoLog) {
  TrialCommand command = Fake({"-c", "setsid sh -c 'while :; do echo noise; done' & setsid sleep 600 & echo done; exit 3"});
  command.child.program = "/bin/sh";
  const auto began = std::chrono::steady_clock::now();
  engine_.Start(command);
  EXPECT_EQ(3, End().exit.code);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_THAT(ReadFile(folder_ / "stdout.log").value(), HasSubstr("done\n"));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, TrialOfTheCpuSeesNoGpu) {
  TrialCommand command = Fake({"-c", "echo [${CUDA_VISIBLE_DEVICES-unset}]"});
  command.child.program = "/bin/sh";
  engine_.Start(command);
  End();
  EXPECT_EQ("[]\n", ReadFile(folder_ / "stdout.log"));
}

TEST_F(EngineTest, ReportsMissingProgram) {
  TrialCommand command = Fake({});
  command.child.program = folder_ / "nothing";
  EXPECT_THROW(engine_.Start(command), std::runtime_error);
}

TEST_F(EngineTest, TrialThatCannotBeExecutedNeverStarts) {
  TrialCommand command = Fake({});
  command.child.program = folder_ / "no_program";
  std::ofstream(command.child.program) << "\x01\x02";
  std::filesystem::permissions(command.child.program, std::filesystem::perms::owner_all);
  engine_.Start(command);
  const JobEnd end = End();
  EXPECT_THAT(end.not_started, HasSubstr("Exec format error"));
  EXPECT_EQ(75, end.exit.code);
}

TEST_F(EngineTest, TrialWithoutItsCoresNeverStarts) {
  TrialCommand command = Fake({"exit", "0"});
  command.allocation.cores = {CPU_SETSIZE - 1};
  engine_.Start(command);
  const JobEnd end = End();
  EXPECT_THAT(end.not_started, HasSubstr("cores 1023: Invalid argument"));
  EXPECT_EQ(75, end.exit.code);
  EXPECT_EQ("", Run({"exit", "75"}).not_started);
}

TEST_F(EngineTest, KilledShimEndsItsTrialAndAllItsProcesses) {
  StartReady({"leave-all-and-sleep"});
  kill(ChildrenOf(getpid()).at(0), SIGKILL);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, KilledShimEndsNoOtherJob) {
  const Child bystander({"/bin/sleep", {"600"}, {}, {}, {}, {}});
  const JobId killed = StartReady({"leave-all-and-sleep"});
  const std::vector<pid_t> before = ChildrenOf(getpid());
  const JobId other = engine_.Start(Fake({"leave-all-and-sleep"}));
  Until([&] { return ReadFile(folder_ / "stdout.log").value_or("").find("ready\nready") != std::string::npos; });
  for (const pid_t pid : before) {
    if (pid != bystander.pid()) kill(pid, SIGKILL);
  }
  EXPECT_EQ(killed, End().job);
  EXPECT_EQ(5u, Left().size());  // shim, trial, child, session, daemon
  EXPECT_TRUE(ProcessStart(bystander.pid()));
  engine_.Stop(other, StopHow::kKill);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, DestructorEndsLeftoversOfAKilledShim) {
  {
    LocalEngine engine(kBackplane);
    engine.Start(Fake({"leave-all-and-sleep"}));
    Until([&] { return ReadFile(folder_ / "stdout.log").value_or("").find("ready") != std::string::npos; });
    kill(ChildrenOf(getpid()).at(0), SIGKILL);
  }
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EngineTest, DestructorLeavesNoProcess) {
  {
    LocalEngine engine(kBackplane);
    engine.Start(Fake({"leave-all-and-sleep"}));
    engine.Start(Fake({"ignore-term"}));
  }
  EXPECT_THAT(Left(), IsEmpty());
}

// Like a shim that a debugger or a sanitizer holds at its exit.
TEST_F(EngineTest, ShimThatReportsTheEndButStaysIsKilled) {
  const std::filesystem::path shim = folder_ / "backplane-shim";
  std::ofstream(shim) << "#!/bin/sh\nfor word; do case $word in --report-fd=*) fd=${word#*=} ;; esac; done\n"
                      << "printf '%s' \"$REPORT\" >&$fd\nexec sleep 600\n";
  std::filesystem::permissions(shim, std::filesystem::perms::owner_all);
  LocalEngine engine(folder_ / "backplane");
  TrialCommand command = Fake({"exit", "0"});
  command.child.environment.push_back("REPORT=" + ToLine(KeepEnd{7, 0, 1}));
  engine.Start(command);
  std::vector<JobEnd> ended;
  for (int looks = 0; ended.empty() && looks < 30; ++looks) ended = engine.Wait(1000);
  ASSERT_EQ(1u, ended.size());
  EXPECT_EQ(7, ended[0].exit.code);
  EXPECT_THAT(Left(), IsEmpty());
}

// Trials without a sign of life in their status file.
class SilenceTest : public EngineTest {
 protected:
  static constexpr double kLimit_s = 1;

  TrialCommand Silent(std::vector<std::string> arguments) const {
    TrialCommand command = Fake(std::move(arguments));
    command.status_file = folder_ / "status";
    command.silence_limit_s = kLimit_s;
    command.grace_s = 60;
    return command;
  }
  // Waits until it has passed its set-up.
  void StartSilent(std::vector<std::string> arguments) {
    job_ = engine_.Start(Silent(std::move(arguments)));
    Until([&] { return ReadFile(folder_ / "stdout.log").value_or("").find("ready") != std::string::npos; });
    shim_ = ChildrenOf(getpid()).at(0);
    trial_ = ChildrenOf(shim_).at(0);
  }
  void Beat() {
    StatusFile status{};
    std::copy_n(kStatusMagic, 8, status.magic);
    status.heartbeat = ++beats_;
    std::ofstream(folder_ / "status", std::ios::binary).write(reinterpret_cast<const char*>(&status), sizeof status);
  }
  bool Ended() { return !StateOf(trial_) || StateOf(trial_)->ended(); }
  static void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

  JobId job_ = 0;
  pid_t shim_ = 0, trial_ = 0;
  uint64_t beats_ = 0;
};

// A trial has half a second for its stacks between the limit and the kill.
TEST_F(SilenceTest, KillsTrialNoLaterIfItGetsSigtermMeanwhile) {
  StartSilent({"ignore-term"});
  Sleep(kLimit_s + 0.3);
  engine_.Stop(job_, StopHow::kAsk);
  const JobEnd end = End();
  EXPECT_TRUE(end.over_silence);
  EXPECT_EQ(SIGKILL, end.exit.signal);
  EXPECT_LT(end.wall_s, 30);
}

TEST_F(SilenceTest, KillsStoppedTrialAfterTheLimit) {
  StartSilent({"sleep"});
  Beat();
  kill(trial_, SIGSTOP);
  const JobEnd end = End();
  EXPECT_TRUE(end.over_silence);
  EXPECT_EQ(SIGKILL, end.exit.signal);
  EXPECT_EQ("it was stopped (state T)", end.stuck);
  EXPECT_GE(end.wall_s, kLimit_s);
  EXPECT_FALSE(end.left);
  EXPECT_FALSE(end.over_memory);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(SilenceTest, KillsTrialThatStopsItselfBeforeItsStatusFile) {
  engine_.Start(Silent({"die", std::to_string(SIGSTOP)}));
  const JobEnd end = End();
  EXPECT_TRUE(end.over_silence);
  EXPECT_EQ("it was stopped (state T)", end.stuck);
}

TEST_F(SilenceTest, NamesStoppedChildOfTheTrial) {
  StartSilent({"stop-child"});
  const std::string child = std::to_string(ChildrenOf(trial_).at(0));
  EXPECT_EQ("its process " + child + " (fake_trial) was stopped (state T)", End().stuck);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(SilenceTest, KillsRunningTrialWithoutAState) {
  StartSilent({"sleep"});
  const JobEnd end = End();
  EXPECT_TRUE(end.over_silence);
  EXPECT_EQ("", end.stuck);
}

TEST_F(SilenceTest, KeepsTrialThatGivesSignsOfLife) {
  StartSilent({"sleep"});
  for (int i = 0; i < 40; ++i) {
    Beat();
    Sleep(kLimit_s / 10);
  }
  EXPECT_FALSE(Ended());
  engine_.Stop(job_, StopHow::kKill);
  EXPECT_FALSE(End().over_silence);
}

TEST_F(SilenceTest, KeepsTrialThatIsContinuedInTime) {
  StartSilent({"sleep"});
  kill(trial_, SIGSTOP);
  Sleep(kLimit_s / 4);
  kill(trial_, SIGCONT);
  for (int i = 0; i < 20; ++i) {
    Beat();
    Sleep(kLimit_s / 10);
  }
  EXPECT_FALSE(Ended());
  engine_.Stop(job_, StopHow::kKill);
  EXPECT_FALSE(End().over_silence);
}

TEST_F(SilenceTest, LeavesOutTimeOfStoppedShim) {
  StartSilent({"sleep"});
  Beat();
  kill(trial_, SIGSTOP);
  kill(shim_, SIGSTOP);
  Sleep(2 * kLimit_s);  // the whole job is suspended
  kill(trial_, SIGCONT);
  Beat();
  kill(shim_, SIGCONT);
  Sleep(kLimit_s / 4);
  EXPECT_FALSE(Ended());
  engine_.Stop(job_, StopHow::kKill);
  EXPECT_FALSE(End().over_silence);
}

TEST_F(SilenceTest, WakesShimThatStaysStopped) {
  StartSilent({"sleep"});
  kill(shim_, SIGSTOP);
  kill(trial_, SIGKILL);
  EXPECT_EQ(SIGKILL, End().exit.signal);
}

TEST_F(SilenceTest, StopsStoppedShimAndTrial) {
  StartSilent({"save"});
  kill(trial_, SIGSTOP);
  kill(shim_, SIGSTOP);
  engine_.Stop(job_, StopHow::kAsk);
  EXPECT_EQ(75, End().exit.code) << "it was continued, and saved";
}

TEST_F(SilenceTest, KillsStoppedShimAndTrial) {
  StartSilent({"ignore-term"});
  kill(trial_, SIGSTOP);
  kill(shim_, SIGSTOP);
  engine_.Stop(job_, StopHow::kKill);
  EXPECT_EQ(SIGKILL, End().exit.signal);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(SilenceTest, LeavesOutTimeOfStoppedSupervisor) {
  const std::filesystem::path log = folder_ / "host";
  Child host({BACKPLANE_BINARY_DIR "/tests/engine_host",
              {kBackplane, (folder_ / "lock").string(), "1", kFakeTrial, "sleep"},
              {mark_, "ENGINE_HOST_STATUS=" + (folder_ / "status").string()},
              log,
              log,
              {}});
  Until([&] { return ReadFile(log).value_or("").starts_with("started"); });
  Until([&] {
    const std::vector<pid_t> shims = ChildrenOf(host.pid());
    const std::vector<pid_t> trials = shims.size() == 1 ? ChildrenOf(shims[0]) : std::vector<pid_t>();
    trial_ = trials.size() == 1 ? trials[0] : 0;
    const auto state = StateOf(trial_);
    return state && state->name == "fake_trial";  // until then it is a copy of its shim
  });
  kill(trial_, SIGSTOP);
  kill(host.pid(), SIGSTOP);
  Sleep(3 * kLimit_s);
  EXPECT_FALSE(Ended());
  kill(host.pid(), SIGCONT);
  Until([&] { return ReadFile(log).value_or("").find("ended 1 it was stopped (state T)") != std::string::npos; });
}

// A tracer holds it at its exit: like a disk that does not answer, it survives SIGKILL.
TEST_F(SilenceTest, LeavesTrialThatNoSignalEnds) {
  StartSilent({"sleep"});
  if (ptrace(PTRACE_SEIZE, trial_, nullptr, PTRACE_O_TRACEEXIT) != 0) {
    engine_.Stop(job_, StopHow::kKill);
    End();
    GTEST_SKIP() << "no process may be traced here";
  }
  engine_.Stop(job_, StopHow::kKill);
  const JobEnd end = End();
  EXPECT_TRUE(end.left);
  EXPECT_EQ(SIGKILL, end.exit.signal);
  EXPECT_FALSE(Ended());
  ptrace(PTRACE_DETACH, trial_, nullptr, nullptr);
  Until([&] {
    waitpid(trial_, nullptr, WNOHANG | __WALL);
    return Ended();
  });
}

// Kills come at moments spread over the start of the trials: before some exist, and after some have left daemons.
TEST_F(EngineTest, KilledSupervisorLeavesNoProcessAndHoldsTheFolder) {
  const std::filesystem::path lock_file = folder_ / "lock";
  for (int moment_ms = 0; moment_ms <= 20; moment_ms += 4) {
    const std::filesystem::path log = folder_ / ("host" + std::to_string(moment_ms));
    Child host({BACKPLANE_BINARY_DIR "/tests/engine_host",
                {kBackplane, lock_file.string(), "3", kFakeTrial, "leave-all-and-sleep"},
                {mark_},
                log,
                log,
                {}});
    Until([&] { return ReadFile(log).value_or("").starts_with("started"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(moment_ms));
    host.Signal(SIGKILL);
    const int lock = open(lock_file.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(lock, LOCK_EX));
    EXPECT_THAT(Left(), IsEmpty());
    close(lock);
  }
}

}  // namespace
}  // namespace backplane
