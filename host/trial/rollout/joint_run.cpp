#include "rollout/joint_run.hpp"

#include <utility>

#include "rollout/instance.hpp"
#include "rollout/process_state.hpp"

namespace backplane {

bool JointRun::Run(const Runners& runners, std::vector<PhaseClock>& clocks,
                   const std::function<void(unsigned, PhaseClock&)>& work) {
  failure_ = nullptr;
  stop_ = false;
  const Phase before = clocks[0].current();
  WatchCloselyIfInDoubt();
  const auto part = [&](unsigned runner) {
    if (runner > 0) clocks[runner].Start(Phase::kIdle);
    try {
      work(runner, clocks[runner]);
    } catch (...) {
      Fail(std::current_exception());
    }
    RestoreThreadState(Suspects());
    if (runner > 0) clocks[runner].Stop(), tls_running_plugin = "";
  };
  const std::function<void(unsigned)> job = std::ref(part);  // a reference needs no allocation
  use_ = runners.Run(job, [&] {
    clocks[0].Switch(Phase::kIdle);
    tls_running_plugin = "";
  });
  clocks[0].Switch(before);
  if (failure_) std::rethrow_exception(failure_);
  return !stop_;
}

void JointRun::Fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  stop_ = true;
}

}  // namespace backplane
