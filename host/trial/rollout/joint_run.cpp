#include "rollout/joint_run.hpp"

#include <algorithm>
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

void JointRun::Share(const Runners& runners, std::vector<PhaseClock>& clocks, uint64_t n,
                     const std::function<void(uint64_t, PhaseClock&)>& piece) {
  failure_ = nullptr;
  stop_ = false;
  const Phase phase = clocks[0].current();
  const auto part = [&](unsigned runner, SharedPieces& pieces) {
    if (runner > 0) clocks[runner].Start(phase);
    pieces.Take(runner, [&](uint64_t i) {
      if (stop_) return;
      try {
        piece(i, clocks[runner]);
      } catch (...) {
        Fail(std::current_exception());
      }
    });
    if (runner == 0) return;
    RestoreThreadState(Suspects());
    clocks[runner].Stop(), tls_running_plugin = "";
  };
  const std::function<void(unsigned, SharedPieces&)> job = std::ref(part);  // a reference needs no allocation
  const unsigned threads = static_cast<unsigned>(std::min<uint64_t>(runners.threads, n));
  runners.pool.Share(threads, n, job, [&] { clocks[0].Switch(Phase::kIdle); });
  clocks[0].Switch(phase);
  if (failure_) std::rethrow_exception(failure_);
}

void JointRun::Fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  stop_ = true;
}

}  // namespace backplane
