#include "trial/late_stop.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "rollout/clocks.hpp"
#include "trial/budget.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};

void SetAfterPatience(const std::atomic<bool>& stop, const std::shared_ptr<std::atomic<bool>>& flag) {
  while (!stop) std::this_thread::sleep_for(kLookEvery);
  const int64_t begin = NowNs();
  while (static_cast<double>(NowNs() - begin) * 1e-9 < kStopPatience_s) std::this_thread::sleep_for(kLookEvery);
  *flag = true;
}

}  // namespace

LateStop::LateStop(const std::atomic<bool>& stop) : flag_(std::make_shared<std::atomic<bool>>(false)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // other threads handle signals
  std::thread(SetAfterPatience, std::cref(stop), flag_).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace backplane
