// Searches an env's observations for the first NaN or infinity. Runs only after a failure, so it does not slow down steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rollout/chunk_queue.hpp"
#include "rollout/rollout_buffers.hpp"

namespace backplane {

struct NonFinite {
  uint64_t step;  // of the rollout or its present part, from 1; 0: the initial observation
  uint64_t row;
  std::string text;  // "observation obs[1] of row 8 is not finite at step 17 of the rollout"
};

// The first in time, then by row, among the observations of rows [begin, end) up to step `last_step`. Absent if all are finite,
// are not floats of 32 or 64 bits, or are on a device. No runner may step these rows meanwhile.
std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, uint64_t begin, uint64_t end, uint64_t last_step);

// The same for one entry of an OBS or STATE buffer with `lead` entries per row: "observation obs[1] of WHOSE is not finite".
std::optional<std::string> NonFiniteEntry(ChannelBuffer& buffer, uint64_t t, uint64_t row, uint64_t lead,
                                          const std::string& whose);

// The same for a whole rollout, including the last observations of its ended episodes. [control]
std::optional<NonFinite> FirstNonFinite(const RolloutBuffers& buffers, const std::vector<Chunk>& chunks);

}  // namespace backplane
