// The seeds that episodes start from: functions of the trial's seed, what the episode is for, its row and its number there, and
// of nothing that happened before.
#pragma once

#include <cstdint>

#include "backplane/rng.h"

namespace backplane {

class EpisodeSeeds {
 public:
  EpisodeSeeds(uint64_t trial_seed, uint32_t purpose) : trial_seed_(trial_seed), purpose_(purpose) {}

  // `number` counts the row's episodes from 0.
  uint64_t Of(uint64_t row, uint64_t number) const {
    return bp_seed(trial_seed_, purpose_, static_cast<uint32_t>(row), number);
  }

 private:
  uint64_t trial_seed_;
  uint32_t purpose_;
};

}  // namespace backplane
