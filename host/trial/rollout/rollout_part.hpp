// The steps of a rollout that the learner gets in one delivery: all of them, or one of several parts (bp_request, `part`).
#pragma once

#include <algorithm>
#include <cstdint>

namespace backplane {

struct RolloutPart {
  RolloutPart() = default;
  RolloutPart(uint64_t horizon) : RolloutPart(horizon, 0, 0) {}  // implicit: a whole rollout
  // Part `number` of a rollout of `horizon` > 0 steps in parts of `part`; 0: in one. A longer part is cut to the horizon.
  RolloutPart(uint64_t horizon, uint64_t part, uint64_t number)
      : room(part == 0 ? horizon : std::min(part, horizon)),
        first(number * room),
        steps(std::min(room, horizon - first)),
        index(number),
        count(horizon == 0 ? 1 : (horizon - 1) / room + 1) {}
  bool last() const { return index + 1 == count; }

  uint64_t room = 0;   // steps of each part but the last one, which may be shorter
  uint64_t first = 0;  // its first step in the rollout
  uint64_t steps = 0;
  uint64_t index = 0, count = 1;
};

}  // namespace backplane
