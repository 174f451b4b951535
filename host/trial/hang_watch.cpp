#include "trial/hang_watch.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "contract/trial_spec.hpp"
#include "log/log.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kPeriod{200}, kTimeToTell{500};

// Counts periods of sleep, because a clock would include time in which the process was stopped.
void Watch(StatusWriter* status, double timeout_s, pthread_t control) {
  const double period_s = std::chrono::duration<double>(kPeriod).count();
  const std::atomic_ref heartbeat(status->data().heartbeat);
  uint64_t seen = heartbeat;
  for (double silent_s = 0; silent_s < timeout_s;) {
    std::this_thread::sleep_for(kPeriod);
    const uint64_t now = heartbeat;
    silent_s = now == seen ? silent_s + period_s : 0;
    seen = now;
  }
  pthread_kill(control, SIGUSR1);  // its handler records the running plugin
  std::this_thread::sleep_for(kTimeToTell);
  const std::string plugin = status->data().plugin;
  LogError("{}gave no sign of life for {} (resources.hang_timeout)", plugin.empty() ? "" : plugin + ": ",
           FormatDuration(timeout_s));
  _exit(kExitTimeout);
}

}  // namespace

void EndIfItHangs(StatusWriter* status, double timeout_s) { std::thread(Watch, status, timeout_s, pthread_self()).detach(); }

}  // namespace backplane
