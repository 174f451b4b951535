#include "trial/threads.hpp"

#include <algorithm>

#include "machine/cpu.hpp"

namespace backplane {

TrialThreads::TrialThreads(const RolloutConfig& rollout, Concurrent concurrent)
    : pool_(static_cast<unsigned>(rollout.threads.value_or(GrantedCores())), rollout.pin_threads),
      callers_(concurrent.calls ? pool_.threads() : 1),
      stepping_(!concurrent.steps ? 1
                : rollout.threads ? pool_.threads()
                                  : static_cast<unsigned>(std::min<uint64_t>(rollout.num_env_runners, pool_.threads()))),
      collecting_(std::min(stepping_, callers_)),
      clocks_(pool_.threads()),
      parallel_(pool_, clocks_) {}

}  // namespace backplane
