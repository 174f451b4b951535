#include "trial/suspension.hpp"

#include <signal.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "rollout/clocks.hpp"

namespace backplane {
namespace {

constexpr int64_t kPeriodNs = 50'000'000;
constexpr int64_t kLateNs = 4 * kPeriodNs;     // the longest delay of a sleeper on a busy machine
constexpr int kLateLooks = 10;                 // consecutive late looks, in which the handler runs too
constexpr int64_t kFrozenNs = 10'000'000'000;  // only a stop of the whole process takes so long
std::atomic<int64_t> g_last_beat_ns{0};

int64_t Steady() { return ReadClock(CLOCK_MONOTONIC); }

// Runs on the main thread before its other code, so that its next reading of the clock is right. The start of the stop is
// unknown but within one period after the last beat.
void OnContinued(int) {
  const int saved = errno;
  const int64_t now = Steady(), gap = now - g_last_beat_ns.exchange(now) - kPeriodNs / 2;
  if (gap > kLateNs) suspended_ns += gap;
  errno = saved;
}

void Tell(StatusWriter* status, int64_t start) {
  status->SetOwnTime(static_cast<double>(NowNs() - start) * 1e-9, static_cast<double>(suspended_ns) * 1e-9);
}

void Beat(StatusWriter* status, int64_t start) {
  for (int late = 0;;) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPeriodNs));
    const int64_t now = Steady();
    int64_t last = g_last_beat_ns;
    const int64_t gap = now - last;
    if (gap > kLateNs && late < kLateLooks) {
      ++late;  // the handler may be about to run
      continue;
    }
    late = 0;
    if (g_last_beat_ns.compare_exchange_strong(last, now) && gap > kFrozenNs) suspended_ns += gap - kPeriodNs;
    Tell(status, start);
  }
}

}  // namespace

void WatchSuspension(StatusWriter* status) {
  const int64_t start = NowNs();
  g_last_beat_ns = Steady();
  struct sigaction action {};
  action.sa_handler = OnContinued;
  action.sa_flags = SA_RESTART;
  sigaction(SIGCONT, &action, nullptr);
  Tell(status, start);  // it may be stopped before the first beat
  std::thread([=] { Beat(status, start); }).detach();
}

}  // namespace backplane
