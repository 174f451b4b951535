#include "batch/stop_batch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "store/out_folder.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 100ms, kBetweenSignals = 300ms;
constexpr auto kUntilKill = 10s, kPatience = 45s;

// Holds one process by descriptor, so a reused pid is never signalled.
class Target {
 public:
  explicit Target(const ProcessId& process) : process_(process) {
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    if (pidfd_ >= 0 && !IsAlive(process)) {  // checked after opening: a live process now is the one that we hold
      close(pidfd_);
      pidfd_ = -1;
    }
  }
  ~Target() {
    if (pidfd_ >= 0) {
      close(pidfd_);
    }
  }
  Target(const Target&) = delete;

  void Signal(int signal) const {
    if (pidfd_ >= 0 && syscall(SYS_pidfd_send_signal, pidfd_, signal, nullptr, 0) != 0 && errno != ESRCH) {
      throw std::runtime_error("cannot stop process " + std::to_string(process_.pid) + ": " + std::strerror(errno));
    }
    // A supervisor that was stopped by Ctrl-Z handles no signal.
    if (pidfd_ >= 0) syscall(SYS_pidfd_send_signal, pidfd_, SIGCONT, nullptr, 0);
  }

 private:
  ProcessId process_;
  int pidfd_ = -1;
};

bool WaitUntilFree(const std::filesystem::path& out, std::chrono::steady_clock::duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!IsFree(out)) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(kTick);
  }
  return true;
}

}  // namespace

StopEnd StopBatch(const std::filesystem::path& out, bool at_once, const std::function<void(const std::string&)>& say) {
  const std::optional<ProcessId> supervisor = FindSupervisor(out);
  if (!supervisor) {
    if (IsFree(out)) {
      return StopEnd::kNothingRan;
    }
    say("no run is active in " + out.string() + "; waiting for leftover trials or a different command to end");
    return WaitUntilFree(out, kPatience) ? StopEnd::kStopped : StopEnd::kStopping;
  }
  if (supervisor->hostname != ThisProcess().hostname) {
    throw std::runtime_error(out.string() + " is run by process " + std::to_string(supervisor->pid) + " on " +
                             supervisor->hostname + "; stop it there");
  }
  const Target target(*supervisor);
  target.Signal(SIGTERM);
  if (!at_once) {
    say("asked process " + std::to_string(supervisor->pid) + " to stop; its trials save a checkpoint first");
    return WaitUntilFree(out, kPatience) ? StopEnd::kStopped : StopEnd::kStopping;
  }
  std::this_thread::sleep_for(kBetweenSignals);  // two at the same time would count as one
  target.Signal(SIGTERM);
  if (WaitUntilFree(out, kUntilKill)) {
    return StopEnd::kStopped;
  }
  target.Signal(SIGKILL);
  return WaitUntilFree(out, kPatience) ? StopEnd::kStopped : StopEnd::kStopping;
}

}  // namespace backplane
