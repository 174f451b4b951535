#include "supervise/interrupt.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>

#include "base/patient_output.hpp"
#include "supervise/end_children.hpp"

namespace backplane {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};
constexpr suseconds_t kTimeToAnswer_us = 700'000;
constexpr int kExitInterrupted = 130;
constexpr char kStopping[] = "\nbackplane: stopping; Ctrl-C again ends it at once\n";
constexpr char kEnding[] = "\nbackplane: ended at once\n";

// Handlers write these, because they get no argument.
volatile std::sig_atomic_t interrupts = 0, seen = 0, acknowledged = 0;
volatile std::sig_atomic_t came = 0;        // any, in this process
volatile std::sig_atomic_t answer_due = 0;  // while the timer runs: the number of signals when it was set
struct sigaction previous[std::size(kInterrupts)], previous_pipe, previous_alarm;

void SetTimer(suseconds_t us) {
  const itimerval once{{0, 0}, {0, us}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// A pipe whose reader does not read would hold up the handler, and with it the process.
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
  sigemptyset(&action.sa_mask);  // no SA_RESTART: a wait ends at once
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
    // Under nohup the terminal's hang-up is none of ours.
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
