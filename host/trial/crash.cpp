#include "trial/crash.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rollout/instance.hpp"
#include "trial/monitor_thread.hpp"

namespace backplane {
namespace {

constexpr int kMaxCalls = 48;
constexpr unsigned kTimeToTell_s = 3;

StatusWriter* g_status = nullptr;
std::string g_stacks;  // a file; empty: none
std::function<void(const std::string&)> g_on_exit;
std::atomic_flag g_telling = ATOMIC_FLAG_INIT;
int g_died_of = 0;

// A line of text that signal handlers can build without allocation.
class Line {
 public:
  Line& operator<<(const char* text) {
    const size_t n = std::min(std::strlen(text), text_.size() - size_);
    std::memcpy(text_.data() + size_, text, n);
    size_ += n;
    return *this;
  }
  Line& Number(uint64_t value, int base) {
    const auto end = std::to_chars(text_.data() + size_, text_.data() + text_.size(), value, base);
    if (end.ec == std::errc()) size_ = static_cast<size_t>(end.ptr - text_.data());
    return *this;
  }
  void WriteTo(int fd) const { [[maybe_unused]] const ssize_t written = write(fd, text_.data(), size_); }

 private:
  std::array<char, 1024> text_;
  size_t size_ = 0;
};

// The instruction at which the signal interrupted the thread.
const void* PlaceOf(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  return nullptr;
#endif
}

// "\taddress in its file\tsymbol, if exported\tfile". For a call, the address before the return address.
void WriteCall(int fd, const void* place, bool innermost) {
  const char* const at = static_cast<const char*>(place) - (innermost ? 0 : 1);
  Dl_info info{};
  const bool known = dladdr(at, &info) != 0;
  const auto base = known ? reinterpret_cast<uintptr_t>(info.dli_fbase) : 0;
  Line line;
  line << "\t0x";
  line.Number(reinterpret_cast<uintptr_t>(at) - base, 16) << "\t" << (known && info.dli_sname ? info.dli_sname : "") << "\t"
                                                          << (known && info.dli_fname ? info.dli_fname : "") << "\n";
  line.WriteTo(fd);
}

// This thread's calls, from the interrupted instruction outwards. These functions take no lock and allocate no memory, except
// for the loader's list of libraries. If that list changes meanwhile, OnAlarm ends the process.
void WriteStack(const void* context) {
  const int fd = g_stacks.empty() ? -1 : open(g_stacks.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  std::array<void*, kMaxCalls> calls;
  const int n = backtrace(calls.data(), kMaxCalls);
  const auto end = calls.begin() + n;
  const auto found = std::find(calls.begin(), end, PlaceOf(context));
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  while (g_telling.test_and_set(std::memory_order_acquire)) sched_yield();  // another thread's handler, which will end
  Line head;
  head << "thread ";
  head.Number(static_cast<uint64_t>(gettid()), 10)
      << " (" << name << ")" << (tls_running_plugin[0] ? " in " : "") << tls_running_plugin << "\n";
  head.WriteTo(fd);
  for (auto call = found == end ? calls.begin() : found; call != end; ++call) WriteCall(fd, *call, call == found);
  g_telling.clear(std::memory_order_release);
  close(fd);
}

// A waiting runner runs no plugin and must not overwrite the name that another thread wrote.
void OnAsked(int, siginfo_t*, void* context) {
  const int error = errno;
  // A monitor's own thread never holds up the trial.
  if (g_status != nullptr && tls_running_plugin[0] != '\0' && !MonitorThread::RunsHere())
    g_status->SetPlugin(tls_running_plugin);
  WriteStack(context);
  errno = error;
}

void OnAlarm(int) { raise(g_died_of); }

void OnCrash(int signal_number, siginfo_t*, void* context) {
  if (g_status != nullptr) {
    g_status->SetPlugin(tls_running_plugin);
    g_status->SetLine("a signal ended the process");
  }
  g_died_of = signal_number;
  signal(SIGALRM, OnAlarm);
  alarm(kTimeToTell_s);
  WriteStack(context);
  // SA_RESETHAND has restored the default action, so the process dies with this signal and the supervisor sees it.
  raise(signal_number);
}

}  // namespace

void InstallCrashHandlers(StatusWriter* status, const std::filesystem::path& stacks,
                          std::function<void(const std::string&)> on_exit) {
  g_status = status;
  g_stacks = stacks.string();
  g_on_exit = std::move(on_exit);
  void* loads_the_unwinder[1];  // loading allocates memory, so not in a handler
  backtrace(loads_the_unwinder, 1);
  // A stack overflow leaves no room for a handler on the normal stack. Only the main thread gets an alternative one.
  static std::vector<char> stack(64 * 1024);
  const stack_t alternative{stack.data(), 0, stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK | SA_SIGINFO;
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
  action.sa_sigaction = OnAsked;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  std::atexit([] { g_on_exit(tls_running_plugin); });
}

}  // namespace backplane
