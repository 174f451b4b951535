// Blame for changes of the process state, and their restoration. Each test has its own process.
#include "rollout/process_state.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <functional>
#include <thread>

#include "rollout/clocks.hpp"
#include "rollout/instance.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kSuspects[] = "env.a or learner.b";
constexpr char kRest[] = ", which all plugins of the process share; it was restored";

std::string Folder() {
  char path[PATH_MAX] = "";
  return getcwd(path, sizeof path) != nullptr ? path : "";
}

void GoTo(const char* folder) { ASSERT_EQ(chdir(folder), 0); }

// Sentences after `what` in a fresh process, followed by failures, which begin with "!".
std::vector<std::string> After(const std::function<void()>& what) {
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    KeepProcessState();
    NameSuspects(kSuspects);
    what();
    std::string text;
    for (const std::string& sentence : StateChanges()) text += sentence + "\n";
    if (testing::Test::HasFailure()) text += "!a check failed\n";
    [[maybe_unused]] const ssize_t n = write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  if (!WIFEXITED(status)) lines.push_back("!died");
  return lines;
}

TEST(ProcessState, IsRestoredAfterAMonitorOnceOthersRest) {
  EXPECT_THAT(After([] {
                const std::string home = Folder();
                BeginMonitorCall("monitor.m");
                GoTo("/");
                EndMonitorCall();
                EXPECT_EQ(Folder(), "/") << "a call may still be running";
                RestoreProcessState(Suspects());
                EXPECT_EQ(Folder(), home);
              }),
              ElementsAre(std::string("monitor.m, ") + kSuspects + " changed the working directory to /" + kRest));
}

TEST(ProcessState, KeepsTemporaryChangesOfAnEnvInMonitorCalls) {
  EXPECT_THAT(After([] {
                const std::string home = Folder();
                GoTo("/");
                BeginMonitorCall("monitor.m");
                EXPECT_EQ(Folder(), "/");
                EndMonitorCall();
                EXPECT_EQ(Folder(), "/");
                BeginMonitorCall("monitor.m");
                GoTo(home.c_str());
                GoTo("/");
                EndMonitorCall();
                GoTo(home.c_str());
                RestoreProcessState(Suspects());
              }),
              IsEmpty());
}

TEST(ProcessState, BlamesTheMonitorWhileEnvAndLearnerRest) {
  EXPECT_THAT(After([] {
                const mode_t mask = umask(022);
                umask(mask);
                {
                  const ProcessChecksPaused rest;
                  BeginMonitorCall("monitor.m");
                  umask(0777);
                  signal(SIGTERM, SIG_IGN);
                  EndMonitorCall();
                }
                RestoreProcessState("learner.b");
                EXPECT_EQ(umask(022), mask);
              }),
              ElementsAre(std::string("monitor.m changed the umask to 777") + kRest,
                          std::string("monitor.m changed the handler of SIGTERM") + kRest));
}

TEST(ProcessState, BlamesAllOnceEnvAndLearnerResume) {
  EXPECT_THAT(After([] {
                {
                  const ProcessChecksPaused rest;
                  BeginMonitorCall("monitor.m");
                }
                GoTo("/");
                EndMonitorCall();
                RestoreProcessState(Suspects());
              }),
              ElementsAre(std::string("monitor.m, ") + kSuspects + " changed the working directory to /" + kRest));
}

TEST(ProcessState, BlamesBothOfTwoConcurrentMonitors) {
  EXPECT_THAT(After([] {
                const ProcessChecksPaused rest;
                BeginMonitorCall("monitor.m");
                std::thread([] {
                  BeginMonitorCall("monitor.n");
                  GoTo("/");
                  EndMonitorCall();
                }).join();
                EndMonitorCall();
                RestoreProcessState(Suspects());
              }),
              ElementsAre(std::string("monitor.n or monitor.m changed the working directory to /") + kRest));
}

// The monitor may never return from that call.
TEST(ProcessState, MayBlameAMonitorInsideACall) {
  EXPECT_THAT(After([] {
                BeginMonitorCall("monitor.m");
                GoTo("/");
                RestoreProcessState("learner.b");
                EndMonitorCall();
                GoTo("/tmp");
                RestoreProcessState("env.a");
              }),
              ElementsAre(std::string("monitor.m or learner.b changed the working directory to /") + kRest,
                          std::string("env.a changed the working directory to /tmp") + kRest));
}

TEST(ProcessState, ReportsOneNameOnceItIsKnown) {
  EXPECT_THAT(After([] {
                for (const char* who : {kSuspects, "env.a"}) {
                  GoTo("/");
                  umask(0777);
                  RestoreProcessState(who);
                }
                signal(SIGTERM, SIG_IGN);
                RestoreProcessState(kSuspects);
                signal(SIGTERM, SIG_IGN);
                RestoreProcessState("env.other");  // neither of the two
              }),
              ElementsAre(std::string("env.a changed the umask to 777") + kRest,
                          std::string("env.a changed the working directory to /") + kRest,
                          std::string(kSuspects) + " changed the handler of SIGTERM" + kRest,
                          std::string("env.other changed the handler of SIGTERM") + kRest));
}

// A plugin that closes foreign descriptors also closes the one for restoring.
TEST(ProcessState, ReportsOnceIfItCannotBeRestored) {
  EXPECT_THAT(After([] {
                for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
                  std::error_code error;
                  if (std::filesystem::read_symlink(entry.path(), error) == Folder()) close(std::stoi(entry.path().filename()));
                }
                GoTo("/");
                RestoreProcessState("env.a");
                RestoreProcessState("learner.b");
              }),
              ElementsAre("env.a changed the working directory to /, which all plugins of the process share; it could not be "
                          "restored"));
}

// One call takes longer than calls are watched closely; watching the other plugin before does not count.
TEST(ProcessState, BlamesTheEnvAfterALearnersSlowCall) {
  EXPECT_THAT(After([] {
                const std::string env = "env.a", learner = "learner.b";
                const auto calm = [] { return 0; };
                WatchClosely();
                CallPlugin(learner, calm);
                CallPlugin(env, calm);
                CallPlugin(learner, [] {
                  suspended_ns -= 1'000'000'000;  // advances the clock by a second
                  return 0;
                });
                CallPlugin(env, [] { return chdir("/"); });
                RestoreProcessState(Suspects());
              }),
              ElementsAre(std::string("env.a changed the working directory to /") + kRest));
}

// Blame is uncertain while threads are inside unwatched calls: the next call must not be blamed for them.
TEST(ProcessState, IsWatchedCloselyOnlyOnceAllRest) {
  EXPECT_THAT(After([] {
                const std::string env = "env.a", learner = "learner.b";
                const auto leaves_a_locale = [] {
                  uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
                  return 0;
                };
                umask(0777);
                RestoreProcessState(Suspects());
                CallPlugin(env, leaves_a_locale);
                CallPlugin(learner, [] { return 0; });
                RestoreThreadState(Suspects());
                WatchCloselyIfInDoubt();
                CallPlugin(env, leaves_a_locale);
                CallPlugin(learner, [] { return 0; });
              }),
              ElementsAre(std::string(kSuspects) + " changed the umask to 777" + kRest,
                          std::string("env.a changed the locale of a thread") + kRest));
}

}  // namespace
}  // namespace backplane
