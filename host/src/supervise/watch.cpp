#include "supervise/watch.hpp"

#include <chrono>
#include <csignal>

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTick_ms = 200;
constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupts = 0;  // written by the handler: it can reach nothing else
struct sigaction previous[std::size(kInterrupts)];

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Watch {
 public:
  Watch(Child& child, StatusReader& status, const WatchLimits& limits, Progress* progress)
      : child_(child), status_(status), limits_(limits), progress_(progress) {}

  Watched Run() {
    for (;;) {
      const std::optional<ChildExit> exit = child_.Wait(kTick_ms);
      Look();
      if (exit) {
        seen_.exit = *exit;
        seen_.wall_s = Since(start_);
        return seen_;
      }
      PassInterrupts();
      CheckLimits();
    }
  }

 private:
  void Look() {
    const std::optional<StatusFile> now = status_.Read();
    if (!now) {
      return;
    }
    if (!seen_.last || now->heartbeat != seen_.last->heartbeat) {
      last_sign_ = Clock::now();
    }
    seen_.last = now;
    if (progress_ != nullptr) {
      progress_->Update(*now, Since(start_));
    }
  }

  void PassInterrupts() {
    const int count = InterruptScope::Count();
    if (count >= 1 && passed_ == 0) {
      passed_ = 1;
      Stop(StopReason::kInterrupt, SIGTERM);
      Say("stopping after this step, with a checkpoint; Ctrl-C again ends it at once");
    }
    if (count >= 2 && passed_ == 1) {
      passed_ = 2;
      Stop(StopReason::kInterrupt, SIGKILL);
    }
  }

  void CheckLimits() {
    // First it is asked to write down whose code it is in (trial/crash.hpp); one tick later it dies.
    if (seen_.stop == StopReason::kHang) {
      child_.Signal(SIGKILL);
    } else if (Since(last_sign_) > limits_.hang_timeout_s) {
      Stop(StopReason::kHang, SIGUSR1);
    }
    if (seen_.stop == StopReason::kNone && limits_.wall_time_s && Since(start_) > *limits_.wall_time_s) {
      Stop(StopReason::kWallTime, SIGTERM);
      asked_ = Clock::now();
      Say("resources.wall_time is reached: stopping with a checkpoint");
    }
    if (seen_.stop == StopReason::kWallTime && Since(asked_) > limits_.save_grace_s) {
      child_.Signal(SIGKILL);
    }
  }

  // The first reason stays, but a trial that hangs while it is asked to stop did hang.
  void Stop(StopReason reason, int signal) {
    if (seen_.stop == StopReason::kNone || reason == StopReason::kHang) {
      seen_.stop = reason;
    }
    child_.Signal(signal);
  }

  void Say(const char* text) {
    if (progress_ != nullptr) {
      progress_->Note(text);
    }
  }

  Child& child_;
  StatusReader& status_;
  WatchLimits limits_;
  Progress* progress_;
  Watched seen_;
  Clock::time_point start_ = Clock::now(), last_sign_ = start_, asked_ = start_;
  int passed_ = 0;
};

}  // namespace

Watched WatchTrial(Child& child, StatusReader& status, const WatchLimits& limits, Progress* progress) {
  return Watch(child, status, limits, progress).Run();
}

InterruptScope::InterruptScope() {
  interrupts = 0;
  struct sigaction action {};
  action.sa_handler = +[](int) { interrupts = interrupts + 1; };
  sigemptyset(&action.sa_mask);  // no SA_RESTART: the wait for the child ends at once
  for (size_t i = 0; i < std::size(kInterrupts); ++i) {
    sigaction(kInterrupts[i], &action, &previous[i]);
  }
}

InterruptScope::~InterruptScope() {
  for (size_t i = 0; i < std::size(kInterrupts); ++i) {
    sigaction(kInterrupts[i], &previous[i], nullptr);
  }
}

int InterruptScope::Count() { return interrupts; }

}  // namespace backplane
