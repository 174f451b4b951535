#include "trial/crash.hpp"

#include <signal.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "rollout/instance.hpp"

namespace backplane {
namespace {

StatusWriter* g_status = nullptr;
std::function<void(const std::string&)> g_on_exit;

// A runner that waits has no plugin of its own; what another wrote is not overwritten by it.
void OnAsked(int) {
  if (g_status != nullptr && tls_running_plugin[0] != '\0') g_status->SetPlugin(tls_running_plugin);
}

void OnCrash(int signal_number) {
  if (g_status != nullptr) {
    g_status->SetPlugin(tls_running_plugin);
    g_status->SetLine("a signal ended the process");
  }
  // SA_RESETHAND has put the default action back: the process dies with this signal and the supervisor sees which.
  raise(signal_number);
}

}  // namespace

void InstallCrashHandlers(StatusWriter* status, std::function<void(const std::string&)> on_exit) {
  g_status = status;
  g_on_exit = std::move(on_exit);
  // A stack overflow leaves no room for a handler on the normal stack; only the main thread gets this one.
  static std::vector<char> stack(64 * 1024);
  const stack_t alternative{stack.data(), 0, stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = OnCrash;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
  action.sa_handler = OnAsked;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::atexit([] { g_on_exit(tls_running_plugin); });
}

}  // namespace backplane
