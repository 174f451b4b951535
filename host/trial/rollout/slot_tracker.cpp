#include "rollout/slot_tracker.hpp"

#include <algorithm>

namespace backplane {

SlotTracker::SlotTracker(const EnvInstance& env, SlotBuffers& slot)
    : tracker_(env),
      limit_of_env_(tracker_.limit()),
      rewards_per_row_(env.Lead(*bp::FindChannel(env.spec(), BP_ROLE_REWARD)) / env.rows()),
      own_return_(env.own_returns()),
      reward_(slot.OfRole(BP_ROLE_REWARD)->at<float>(0, 0)),
      terminated_(slot.OfRole(BP_ROLE_TERMINATED)->at<uint8_t>(0, 0)),
      cut_by_env_(tracker_.env_cuts() ? slot.OfRole(BP_ROLE_TRUNCATED)->at<uint8_t>(0, 0) : nullptr),
      own_(env.rows()) {
  LimitTo(0);
}

// An env that owns its time limit may fail to apply it, so its limit only raises the cap.
uint64_t SlotTracker::CapOf(const EnvInstance& env, uint64_t cap) {
  const auto declared = static_cast<uint64_t>(std::max<int64_t>(env.spec().max_episode_steps, 0));
  const bool host_counts = declared > 0 && (env.flags() & BP_FLAG_OWNS_TIME_LIMIT) == 0;
  return host_counts ? declared : std::max(declared, cap);
}

void SlotTracker::LimitTo(uint64_t max_steps) {
  const auto asked = static_cast<int64_t>(std::min(max_steps, static_cast<uint64_t>(EpisodeTracker::kNoLimit)));
  tracker_.set_limit(asked > 0 ? std::min(limit_of_env_, asked) : limit_of_env_);
  const bool by_env_alone = cut_by_env_ != nullptr && tracker_.limit() == EpisodeTracker::kNoLimit;
  truncated_ = by_env_alone ? cut_by_env_ : own_.data();
}

}  // namespace backplane
