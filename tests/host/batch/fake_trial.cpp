// A trial that behaves as MODE demands: fake_trial MODE [ARGUMENT...]. The tests explain each mode.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void SleepForEver() {
  for (;;) pause();
}

pid_t Spawn(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    work();
    _exit(0);
  }
  return pid;
}

// Reports through a pipe when the forked processes have started.
class Ready {
 public:
  Ready() {
    if (pipe(fds_) != 0) std::abort();
  }
  void Tell() const {
    if (write(fds_[1], "", 1) != 1) std::abort();
  }
  void Await(int count) const {
    for (char byte; count > 0; --count)
      if (read(fds_[0], &byte, 1) != 1) std::abort();
  }

 private:
  int fds_[2];
};

void Announce() {
  std::puts("ready");
  std::fflush(stdout);
}

int Exit(const Words& words) { return std::stoi(words[0]); }

int Result(const Words& words) {
  std::ofstream(words[0]) << words[1];
  return 0;
}

int Die(const Words& words) {
  raise(std::stoi(words[0]));
  return 0;
}

int Sleep(const Words&) {
  Announce();
  SleepForEver();
}

int Save(const Words&) {
  std::signal(SIGTERM, [](int) { _exit(75); });
  Announce();
  SleepForEver();
}

// A child that stops itself; the trial keeps running.
int StopChild(const Words&) {
  const pid_t child = Spawn([] { raise(SIGSTOP); });
  waitpid(child, nullptr, WUNTRACED);
  return Sleep({});
}

int Where(const Words&) {
  std::signal(SIGUSR1, [](int) { _exit(42); });
  Announce();
  SleepForEver();
}

int IgnoreTerm(const Words&) {
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  Announce();
  SleepForEver();
}

// Children that outlive their parent: in the group, in their own session, as a daemon.
int LeaveChild(const Words& words) {
  const Ready ready;
  const int count = words.empty() ? 1 : std::stoi(words[0]);
  for (int i = 0; i < count; ++i) {
    Spawn([&] {
      std::signal(SIGTERM, SIG_IGN);
      ready.Tell();
      SleepForEver();
    });
  }
  ready.Await(count);
  return 0;
}

int LeaveSession(const Words&) {
  const Ready ready;
  Spawn([&] {
    setsid();
    ready.Tell();
    SleepForEver();
  });
  ready.Await(1);
  return 0;
}

int LeaveDaemon(const Words&) {
  const Ready ready;
  const pid_t middle = Spawn([&] {
    setsid();
    Spawn([&] {
      for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_IGN);
      ready.Tell();
      SleepForEver();
    });
  });
  waitpid(middle, nullptr, 0);
  ready.Await(1);
  return 0;
}

// The same three, but the trial stays.
int LeaveAllAndSleep(const Words&) {
  LeaveChild({});
  LeaveSession({});
  LeaveDaemon({});
  return Sleep({});
}

int CloseAll(const Words&) {
  close_range(0, ~0U, 0);
  return 0;
}

void* volatile last_filled;  // keeps the compiler from removing unread memory

void Fill(size_t bytes) { last_filled = std::memset(::operator new(bytes), 1, bytes); }

// Grows in steps like real programs. If memory runs out, it throws or, with "crash", writes to a null pointer.
int FillUntil(const Words& words) {
  constexpr size_t kStep = 1 << 20;
  const size_t limit = std::stoull(words[0]);
  const bool crash = words.size() > 1;
  try {
    for (size_t bytes = 0; bytes < limit; bytes += kStep) Fill(kStep);
  } catch (const std::bad_alloc&) {
    if (crash) raise(SIGSEGV);
    return 102;
  }
  return Sleep({});
}

// Each child stays below the limit.
int FillInChildren(const Words& words) {
  for (int i = 0; i < std::stoi(words[0]); ++i) {
    Spawn([&] {
      Fill(std::stoull(words[1]));
      SleepForEver();
    });
  }
  return Sleep({});
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const Words&)> modes = {
      {"exit", Exit},
      {"result", Result},
      {"die", Die},
      {"sleep", Sleep},
      {"save", Save},
      {"stop-child", StopChild},
      {"where", Where},
      {"ignore-term", IgnoreTerm},
      {"leave-child", LeaveChild},
      {"leave-session", LeaveSession},
      {"leave-daemon", LeaveDaemon},
      {"leave-all-and-sleep", LeaveAllAndSleep},
      {"close-all", CloseAll},
      {"fill", FillUntil},
      {"fill-in-children", FillInChildren},
  };
  return modes.at(argc > 1 ? argv[1] : "")({argv + 2, argv + argc});
}
