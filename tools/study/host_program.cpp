#include "study/host_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>

#include "arguments/command.hpp"
#include "base/child.hpp"
#include "base/colour.hpp"
#include "plugin/installation.hpp"

namespace backplane {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kLook_ms = 1000;  // signals and the program's end wake us earlier

// Handlers read and write these.
volatile std::sig_atomic_t host = 0;       // its process id
volatile std::sig_atomic_t last_came = 0;  // the last forwarded signal; 0: none

void PassOn(int signal) {
  last_came = signal;
  kill(host, signal);
}

void SetHandler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;
  sigaction(signal, &action, nullptr);
}

// Ctrl-Z stops the processes of the terminal's group, but the program has a group of its own. Without a shell that could
// continue it, the kernel does not stop this process.
void StopBoth(int signal) {
  const int saved = errno;
  kill(-host, signal);
  std::signal(signal, SIG_DFL);
  raise(signal);
  SetHandler(signal, StopBoth);
  kill(-host, SIGCONT);
  errno = saved;
}

class SignalsPassedOn {
 public:
  explicit SignalsPassedOn(pid_t pid) {
    host = pid;
    last_came = 0;
    for (size_t i = 0; i < std::size(kPassedOn); ++i) Replace(kPassedOn[i], PassOn, &before_[i]);
    Replace(SIGTSTP, StopBoth, &before_stop_);
  }
  ~SignalsPassedOn() {
    for (size_t i = 0; i < std::size(kPassedOn); ++i) sigaction(kPassedOn[i], &before_[i], nullptr);
    sigaction(SIGTSTP, &before_stop_, nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;

 private:
  static void Replace(int signal, void (*handler)(int), struct sigaction* before) {
    sigaction(signal, nullptr, before);
    if (before->sa_handler != SIG_IGN) SetHandler(signal, handler);  // under nohup a hang-up stays ignored
  }

  struct sigaction before_[std::size(kPassedOn)], before_stop_;
};

std::filesystem::path HostProgram() {
  const char* const named = std::getenv("BACKPLANE_PROGRAM");
  return named != nullptr && *named != '\0' ? std::filesystem::path(named) : OwnProgram().parent_path() / "backplane";
}

[[noreturn]] void EndBy(int signal) {
  std::signal(signal, SIG_DFL);
  raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace

int RunHost(const std::string& typed_program, std::vector<std::string> words, const std::filesystem::path& output) {
  if (const std::string when = ChosenColour(); !when.empty()) words.insert(words.end(), {"--color", when});
  std::fflush(stdout);
  ChildCommand command;
  command.program = HostProgram();
  command.name = typed_program;
  command.arguments = std::move(words);
  command.stdout_file = output;
  ChildSetup setup;
  setup.death_signal = SIGKILL;  // as if both were one process: its trials save themselves
  setup.stdout_fd = output.empty() ? STDOUT_FILENO : -1;
  setup.stderr_fd = STDERR_FILENO;
  setup.blocked_signals = {SIGTTOU};  // the terminal may stop other groups that write to it (stty tostop)
  Child child(command, setup);
  std::optional<ChildExit> end;
  int came = 0;
  {
    const SignalsPassedOn passed_on(child.pid());
    while (!(end = child.Wait(kLook_ms))) {
    }
    came = last_came;
  }
  if (end->signal != 0) EndBy(end->signal);
  if (came != 0 && end->code == kOk) EndBy(came);  // it came too late for the program
  return end->code;
}

}  // namespace backplane
