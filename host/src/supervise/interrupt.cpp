#include "supervise/interrupt.hpp"

#include <csignal>
#include <iterator>

namespace backplane {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction previous_pipe;

volatile std::sig_atomic_t interrupts = 0;  // written by the handler: it can reach nothing else
struct sigaction previous[std::size(kInterrupts)];

}  // namespace

InterruptScope::InterruptScope() {
  interrupts = 0;
  struct sigaction action {};
  // A hang-up comes more than once when a terminal closes, and asks no more than one Ctrl-C does.
  action.sa_handler = +[](int signal) { interrupts = signal == SIGHUP && interrupts > 0 ? interrupts : interrupts + 1; };
  sigemptyset(&action.sa_mask);  // no SA_RESTART: a wait ends at once
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &previous_pipe);
  for (size_t i = 0; i < std::size(kInterrupts); ++i) {
    sigaction(kInterrupts[i], &action, &previous[i]);
    // Under nohup the terminal's hang-up is none of ours.
    if (kInterrupts[i] == SIGHUP && previous[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &previous[i], nullptr);
  }
}

InterruptScope::~InterruptScope() {
  sigaction(SIGPIPE, &previous_pipe, nullptr);
  for (size_t i = 0; i < std::size(kInterrupts); ++i) sigaction(kInterrupts[i], &previous[i], nullptr);
}

int InterruptScope::Count() { return interrupts; }

}  // namespace backplane
