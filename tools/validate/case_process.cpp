#include "validate/case_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "base/pipe.hpp"
#include "validate/doing.hpp"
#include "validate/process_time.hpp"

namespace backplane {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile sig_atomic_t g_stop_signal = 0;
struct sigaction g_before[std::size(kSignals)];

// Detects calls that do not return: a plugin that is only slow keeps entering new ones.
class StuckWatch {
 public:
  explicit StuckWatch(const Doing& doing) : doing_(doing) {}
  void Look(double now_s) {
    const uint64_t entered = doing_.entered.load(std::memory_order_relaxed);
    const CallSet inside = doing_.Inside();
    if (entered_ != entered || inside != inside_) entered_ = entered, inside_ = inside, since_s_ = now_s;
  }
  // After that long without a call, the process is outside the plugin's functions.
  CallSet StuckAt(double now_s) const {
    constexpr double kLongPart = 0.25;
    if (now_s - since_s_ < kLongPart * now_s) return {};
    return inside_.empty() ? CallSet{PluginCall::kOutside} : inside_;
  }

 private:
  const Doing& doing_;
  std::optional<uint64_t> entered_;
  CallSet inside_;
  double since_s_ = 0;
};

void EndGroup(pid_t child, int* wait_status) {
  kill(-child, SIGKILL), kill(child, SIGKILL);
  while (waitpid(child, wait_status, 0) < 0 && errno == EINTR) {
  }
}

// A signal just before a poll waits for the next round.
constexpr int kLookAgainMs = 100, kEndMs = 2;

EndedProcess Listen(pid_t child, Pipe* pipe, const ProcessLimits& limits) {
  EndedProcess ended;
  ProcessTime time(child, limits.limit_s);
  StuckWatch stuck(*ShareDoing());
  bool open = true, gone = false, slow = false;  // a process closes the pipe when it ends, but may also continue
  const auto is_gone = [&] { return waitpid(child, &ended.wait_status, WNOHANG) == child; };
  while (!gone && !ended.late && g_stop_signal == 0) {
    pollfd one{pipe->reader(), POLLIN, 0};
    const int wait_ms = open ? static_cast<int>(std::min<int64_t>(time.window_ms(), kLookAgainMs)) : kEndMs;
    const int ready = poll(&one, open ? 1 : 0, wait_ms);
    if (open && ready > 0) open = pipe->TakeInto(&ended.heard, 1);
    gone = !open && is_gone();
    const double now_s = time.wall_s();
    stuck.Look(now_s);
    if (!slow && now_s >= kSlow_s && limits.on_slow) slow = true, limits.on_slow();
    ended.late = !gone && time.IsOver();
    if (ended.late) ended.stuck = stuck.StuckAt(now_s);
  }
  if (!gone) EndGroup(child, &ended.wait_status);
  kill(-child, SIGKILL);  // child processes
  return ended;
}

std::string TailOf(int output) {
  constexpr off_t kMost = 600;
  const off_t size = lseek(output, 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(static_cast<size_t>(std::min(size, kMost)), '\0');
  const ssize_t n = pread(output, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void PrepareChild(int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) signal(s, SIG_DFL);
  if (const int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) dup2(null, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO), dup2(output, STDERR_FILENO);
}

}  // namespace

EndedProcess RunProcess(const std::function<void(int pipe_end)>& run, const ProcessLimits& limits) {
  ShareDoing();
  BeginDoing();
  Pipe pipe;
  const int output = memfd_create("output", MFD_CLOEXEC);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    pipe.CloseReader();
    PrepareChild(output);
    run(pipe.writer());
    _exit(0);
  }
  const int error = errno;
  pipe.CloseWriter();
  if (child < 0) {
    if (output >= 0) close(output);
    throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(error));
  }
  EndedProcess ended = Listen(child, &pipe, limits);
  if (output >= 0) ended.printed = TailOf(output), close(output);
  return ended;
}

StopSignals::StopSignals() {
  g_stop_signal = 0;
  struct sigaction take {};
  take.sa_handler = [](int signal) { g_stop_signal = signal; };
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &take, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
  if (const int signal = g_stop_signal; signal != 0) raise(signal);
}

bool StoppedBySignal() { return g_stop_signal != 0; }

}  // namespace backplane
