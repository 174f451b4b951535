#include "screen/cursor.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/patient_output.hpp"

namespace backplane {
namespace {

constexpr char kHide[] = "\x1b[?25l", kShow[] = "\x1b[?25h";

volatile std::sig_atomic_t hidden_on = -1;  // descriptor; -1: nowhere

void Write(int fd, const char* text) {
  if (!TakesOutput(fd, kNotePatience_ms)) return;
  [[maybe_unused]] const ssize_t written = write(fd, text, std::strlen(text));
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction before {
  }, action{};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);  // who has a handler comes to an orderly end
}

// Acts like the default handler, but shows the cursor first. After a SIGCONT, the next redraw hides it again.
void OnSignal(int signal) {
  ShowCursor();
  std::signal(signal, SIG_DFL);
  raise(signal);
  Handle(signal, OnSignal);
}

}  // namespace

void HideCursor(std::FILE* terminal) {
  static const bool once = [] {
    std::atexit(ShowCursor);
    return true;
  }();
  (void)once;
  if (hidden_on >= 0) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    Handle(signal, OnSignal);
  std::fflush(terminal);
  hidden_on = DescriptorOf(terminal);
  Write(hidden_on, kHide);
}

void ShowCursor() {
  if (hidden_on < 0) return;
  const int fd = hidden_on;
  hidden_on = -1;
  Write(fd, kShow);
}

}  // namespace backplane
