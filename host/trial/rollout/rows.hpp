// The host's lifelong state of each row: the progress of its episode, and the seed of the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/rng.h"

namespace backplane {

// Seeds of episodes. A seed depends only on the trial's seed, the purpose, the row and the episode's number in its row.
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

struct RowState {
  double episode_return = 0;
  int64_t episode_length = 0;
  uint64_t episode = 0;  // number of started episodes
};

// An episode that ended at step t of the rollout.
struct Episode {
  uint64_t t = 0, row = 0;
  double episode_return = 0;
  int64_t length = 0;
  const double* info = nullptr;  // [number of ep/ channels]
};

class Rows {
 public:
  Rows(uint64_t n, uint64_t seed, uint32_t purpose) : state(n), seeds(n), mask(n), seeds_of_(seed, purpose) {}

  // Gives row r the seed of its next episode and resets its sums.
  void StartEpisode(uint64_t r) {
    seeds[r] = SeedAhead(r, 0);
    ++state[r].episode;
    state[r].episode_return = 0;
    state[r].episode_length = 0;
  }
  // The seed of row r's episode after `ahead` more ones.
  uint64_t SeedAhead(uint64_t r, uint64_t ahead) const { return seeds_of_.Of(r, state[r].episode + ahead); }
  uint64_t size() const { return state.size(); }

  std::vector<RowState> state;
  std::vector<uint64_t> seeds;
  std::vector<uint8_t> mask;

 private:
  EpisodeSeeds seeds_of_;
};

}  // namespace backplane
