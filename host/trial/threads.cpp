#include "trial/threads.hpp"

#include <algorithm>

#include "machine/cpu.hpp"

namespace backplane {

TrialThreads::TrialThreads(const RolloutConfig& rollout, bool rows_concurrent)
    : pool_(static_cast<unsigned>(rollout.threads.value_or(GrantedCores())), rollout.pin_threads),
      callers_(rows_concurrent ? pool_.threads() : 1),
      collecting_(rollout.threads ? callers_ : static_cast<unsigned>(std::min<uint64_t>(rollout.num_env_runners, callers_))),
      clocks_(pool_.threads()),
      parallel_(pool_, clocks_) {}

}  // namespace backplane
