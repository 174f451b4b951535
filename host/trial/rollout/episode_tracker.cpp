#include "rollout/episode_tracker.hpp"

#include <fmt/format.h>

namespace backplane {

EpisodeTracker::EpisodeTracker(const EnvInstance& env)
    : env_(env),
      env_cuts_((env.flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0),
      limit_(env.spec().max_episode_steps > 0 && !env_cuts_ ? env.spec().max_episode_steps : kNoLimit) {}

void EpisodeTracker::CheckFlags(uint64_t row, uint8_t terminated, uint8_t truncated, const std::string& when) const {
  if ((terminated | truncated) <= 1) return;
  const bool first = terminated > 1;
  // A host-owned TRUNCATED channel contains only the host's own values.
  const bp_channel* channel = bp::FindChannel(env_.spec(), first ? BP_ROLE_TERMINATED : BP_ROLE_TRUNCATED);
  throw TrialFailure(BP_E_INTERNAL, env_.id(),
                     fmt::format("step: channel '{}' of row {}: expected 0 or 1, got {} {}", channel->name, row,
                                 first ? terminated : truncated, when));
}

}  // namespace backplane
