#include "watch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>

// Aborts and UBSan findings end the program with a stack. The quarantine is small, so memory use is close to the code under
// test's own.
extern "C" const char* __asan_default_options() {
  return "handle_abort=1:detect_leaks=0:quarantine_size_mb=16:max_allocation_size_mb=1024:detect_stack_use_after_return=0";
}
extern "C" const char* __ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }
#endif

namespace backplane::fuzz {
namespace {

// Data for the signal handler, which must not allocate.
struct Current {
  const uint8_t* data = nullptr;
  size_t size = 0;
  char from[4096] = "";
  char failure[4096] = "";  // the input is written to this file
  bool running = false;
} current;

void Say(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, length);
}

void SayHowToRepeat() {
  char program[4096] = "";
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  Say("\nrun it again: ");
  Say(program);
  Say(" ");
  Say(current.from[0] != '\0' ? current.from : current.failure);
  Say("\n");
}

void KeepInput() {
  if (!current.running) return;
  current.running = false;
  if (current.from[0] == '\0') {
    const int file = open(current.failure, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    for (size_t done = 0; file >= 0 && done < current.size;) {
      const ssize_t n = write(file, current.data + done, current.size - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    if (file < 0) Say("\nfuzz: the input could not be written\n");
  }
  SayHowToRepeat();
}

void OnTimeout(int) {
  Say("\nfuzz: the input takes longer than its limit\n");
  KeepInput();
  abort();
}

[[maybe_unused]] void OnCrash(int number) {
  Say("\nfuzz: the input crashed the code under test\n");
  KeepInput();
  signal(number, SIG_DFL);
  raise(number);
}

// On its own stack, because an endless recursion has used up the thread's.
void Handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(number, &action, nullptr);
}

[[maybe_unused]] void UseSignalStack() {
  constexpr size_t kBytes = 256 * 1024;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kBytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

timeval Seconds(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  return {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
}

void SetTimers(double cpu_s) {
  const itimerval cpu{{0, 0}, Seconds(cpu_s)}, wall{{0, 0}, Seconds(cpu_s * kWaits)};
  setitimer(ITIMER_PROF, &cpu, nullptr);
  setitimer(ITIMER_REAL, &wall, nullptr);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Put(const std::string& text, char (&place)[4096]) {
  if (text.size() >= sizeof place) throw std::runtime_error("the path is too long: " + text);
  text.copy(place, text.size());
  place[text.size()] = '\0';
}

}  // namespace

Watch::Watch(const Limits& limits, const std::string& failures) : limits_(limits) {
  std::filesystem::create_directories(failures);
  Put((std::filesystem::absolute(failures) / ("failure-" + std::to_string(getpid()))).string(), current.failure);
  Handle(SIGPROF, OnTimeout);
  Handle(SIGALRM, OnTimeout);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(KeepInput);
#else
  UseSignalStack();
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) Handle(number, OnCrash);
#endif
}

void Watch::Begin(const uint8_t* data, size_t size, const std::string& from) {
  current.data = data;
  current.size = size;
  Put(from, current.from);
  current.running = true;
  started_s_ = CpuSeconds();
  SetTimers(limits_.cpu_s);
}

double Watch::End() {
  SetTimers(0);
  if (PeakMemoryBytes() > limits_.memory_bytes) {
    std::fprintf(stderr, "\nfuzz: the program has taken %zu MiB, more than %zu MiB\n", PeakMemoryBytes() >> 20,
                 limits_.memory_bytes >> 20);
    KeepInput();
    std::abort();
  }
  current.running = false;
  return CpuSeconds() - started_s_;
}

size_t Watch::PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

}  // namespace backplane::fuzz
