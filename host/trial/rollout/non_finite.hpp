// Looks through what an env observed for the first NaN or infinity. It runs only where a trial has failed already: steps are
// not slowed down by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rollout/chunk_queue.hpp"
#include "rollout/rollout_buffers.hpp"

namespace backplane {

struct NonFinite {
  uint64_t step;  // of the rollout, from 1; 0: the observation with which the rollout began
  uint64_t row;
  std::string text;  // "observation obs[1] of row 8 is not finite at step 17 of the rollout"
};

// The first in time, then by row, among the observations of rows [begin, end) up to the one that step `last_step` wrote.
// Nothing if all are finite, are no floating-point numbers of 32 or 64 bits, or lie on a device. No runner may be stepping
// these rows.
std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, uint64_t begin, uint64_t end, uint64_t last_step);

// The same in one entry of a buffer of OBS or STATE with `lead` entries per row: "observation obs[1] of WHOSE is not finite".
std::optional<std::string> NonFiniteEntry(ChannelBuffer& buffer, uint64_t t, uint64_t row, uint64_t lead,
                                          const std::string& whose);

// The same over a whole rollout, with the last observations of the episodes that ended in it. [control]
std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, const std::vector<Chunk>& chunks);

}  // namespace backplane
