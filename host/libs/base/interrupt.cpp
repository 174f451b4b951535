#include "base/interrupt.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/patient_output.hpp"

namespace backplane {
namespace {

constexpr char kShimName[] = "backplane-shim";  // at most the 15 bytes that the kernel keeps
constexpr size_t kBlock = 4096, kLongestNumber = 24;

char children_file[64];

// "/proc/NUMBER/comm"
void PathOfName(pid_t pid, char* path) {
  char digits[kLongestNumber];
  size_t n = 0;
  for (; pid > 0; pid /= 10) digits[n++] = static_cast<char>('0' + pid % 10);
  std::memcpy(path, "/proc/", 6);
  path += 6;
  while (n > 0) *path++ = digits[--n];
  std::memcpy(path, "/comm", 6);
}

bool IsShimProcess(pid_t pid) {
  char path[64], name[sizeof kShimName] = {};
  PathOfName(pid, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = read(fd, name, sizeof name - 1);
  close(fd);
  return n == sizeof name - 1 && std::memcmp(name, kShimName, sizeof name - 1) == 0;
}

void EndChild(pid_t pid) {
  kill(pid, IsShimProcess(pid) ? SIGQUIT : SIGKILL);
  kill(pid, SIGCONT);  // a stopped shim handles no signal
}

// Prepares EndChildren. [main thread]
void FindChildren() { std::snprintf(children_file, sizeof children_file, "/proc/%d/task/%d/children", getpid(), gettid()); }

// Kills the child processes of the main thread. A shim is signalled to kill its trial instead (shim/shim.hpp). Only calls
// that a signal handler may make.
void EndChildren() {
  const int fd = open(children_file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;  // this kernel does not list them; our death sends them SIGTERM
  char block[kBlock];
  pid_t pid = 0;
  for (ssize_t n = 0; (n = read(fd, block, sizeof block)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (block[i] >= '0' && block[i] <= '9') {
        pid = pid * 10 + (block[i] - '0');
        continue;
      }
      if (pid > 0) EndChild(pid);
      pid = 0;
    }
  }
  close(fd);
}

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};
constexpr suseconds_t kTimeToAnswer_us = 700'000;
constexpr int kExitInterrupted = 130;
constexpr char kStopping[] = "\nbackplane: stopping; Ctrl-C again ends it immediately\n";
constexpr char kEnding[] = "\nbackplane: ended immediately\n";

// Handlers write these, because they get no argument.
volatile std::sig_atomic_t interrupts = 0, seen = 0, acknowledged = 0;
volatile std::sig_atomic_t came = 0;        // any, in this process
volatile std::sig_atomic_t answer_due = 0;  // while the timer runs: the number of signals when it was set
struct sigaction previous[std::size(kInterrupts)], previous_pipe, previous_alarm;

void SetTimer(suseconds_t us) {
  const itimerval once{{0, 0}, {0, us}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// A pipe without an active reader would block the handler, and so the process.
template <size_t N>
void Print(const char (&text)[N]) {
  if (!TakesOutput(STDERR_FILENO, 0)) return;
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, N - 1);
}

void AwaitAnswer() {
  answer_due = interrupts;
  SetTimer(kTimeToAnswer_us);
}

void OnInterrupt(int signal) {
  // A terminal that closes sends several hang-ups. They count as one Ctrl-C.
  if (signal == SIGHUP && interrupts > 0) return;
  interrupts = interrupts + 1;
  came = 1;
  // Later ones do not put off the answer: a key that is held down repeats within that time.
  if (interrupts <= 2 || answer_due == 0) AwaitAnswer();
}

void OnTimeToAnswer(int) {
  const int saved = errno, due = answer_due;
  answer_due = 0;
  if (interrupts >= 2 && seen < due) {
    EndChildren();
    Print(kEnding);
    _exit(kExitInterrupted);
  }
  if (seen < interrupts && interrupts > due) AwaitAnswer();  // the loop has seen those before
  if (acknowledged == 0) {
    acknowledged = 1;
    Print(kStopping);
  }
  errno = saved;
}

void Handle(int signal, void (*handler)(int), struct sigaction* before) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);  // no SA_RESTART: a wait ends immediately
  sigaction(signal, &action, before);
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupts = 0;
  seen = 0;
  acknowledged = 0;
  answer_due = 0;
  FindChildren();
  Handle(SIGPIPE, SIG_IGN, &previous_pipe);
  Handle(SIGALRM, OnTimeToAnswer, &previous_alarm);
  for (size_t i = 0; i < std::size(kInterrupts); ++i) {
    Handle(kInterrupts[i], OnInterrupt, &previous[i]);
    // Under nohup the terminal's hang-up is ignored.
    if (kInterrupts[i] == SIGHUP && previous[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &previous[i], nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (size_t i = 0; i < std::size(kInterrupts); ++i) sigaction(kInterrupts[i], &previous[i], nullptr);
  SetTimer(0);
  sigaction(SIGALRM, &previous_alarm, nullptr);
  sigaction(SIGPIPE, &previous_pipe, nullptr);
  interrupts = 0;
}

int InterruptScope::Count() {
  const int count = interrupts;
  seen = count;
  return count;
}

bool InterruptScope::AnyCame() { return came != 0; }

void InterruptScope::Acknowledge() { acknowledged = 1; }

}  // namespace backplane
