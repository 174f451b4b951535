#include "rollout/flags.hpp"

#include <fmt/format.h>

namespace backplane {

void RefuseFlag(const EnvInstance& env, uint64_t row, uint8_t terminated, uint8_t truncated, const std::string& when) {
  const bool first = terminated > 1;
  // A TRUNCATED channel that is the host's holds nothing else than the host wrote.
  const bp_channel* channel = env.FindRole(first ? BP_ROLE_TERMINATED : BP_ROLE_TRUNCATED);
  throw TrialFailure(BP_E_INTERNAL, env.id(),
                     fmt::format("step: channel '{}' of row {}: wanted 0 or 1, found {} {}", channel->name, row,
                                 first ? terminated : truncated, when));
}

}  // namespace backplane
