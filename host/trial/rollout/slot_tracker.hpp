// Tracks the episodes of an env bound to one slot (SlotBuffers). Truncation by the host stays here and is not written into the
// env's channels.
#pragma once

#include <string>
#include <vector>

#include "rollout/episode_tracker.hpp"
#include "rollout/slot_buffers.hpp"

namespace backplane {

class SlotTracker {
 public:
  // Both outlive it. `slot` must mirror the channels that are read after a step.
  SlotTracker(const EnvInstance& env, SlotBuffers& slot);

  // Limits episodes from now on, even if the env owns the time limit; 0: the env's limit. [control]
  void LimitTo(uint64_t max_steps);
  // The maximum length of an episode that the env does not end. If the host counts, it is the declared limit. Otherwise it is
  // the larger of the declared limit and `cap`.
  static uint64_t CapOf(const EnvInstance& env, uint64_t cap);

  // Adds the slot's step of rows [begin, end) to the same rows in `rows`. [rows]
  template <class Row>
  EpisodeTracker::Seen Add(Row* rows, uint64_t begin, uint64_t end) {
    const EpisodeTracker::Step step{reward_ + begin * rewards_per_row_,
                                    terminated_ + begin,
                                    cut_by_env_ != nullptr ? cut_by_env_ + begin : nullptr,
                                    truncated_ + begin,
                                    rewards_per_row_,
                                    own_return_ != nullptr ? own_return_ + begin : nullptr};
    return tracker_.Add(rows + begin, end - begin, step);
  }
  // The state after the last Add. [rows]
  bool ended(uint64_t row) const { return (terminated_[row] | truncated_[row]) != 0; }
  bool ended_by_env(uint64_t row) const { return (terminated_[row] | CutByEnv(row)) != 0; }
  void CheckFlags(uint64_t row, const std::string& when) const {
    tracker_.CheckFlags(row, terminated_[row], CutByEnv(row), when);
  }

 private:
  uint8_t CutByEnv(uint64_t row) const { return cut_by_env_ != nullptr ? cut_by_env_[row] : uint8_t{0}; }

  EpisodeTracker tracker_;
  const int64_t limit_of_env_;
  const uint64_t rewards_per_row_;
  const double* const own_return_;  // [rows], of an env with wrappers; NULL: none
  const float* const reward_;
  const uint8_t* const terminated_;
  uint8_t* const cut_by_env_;  // NULL: the env never truncates
  std::vector<uint8_t> own_;   // [rows], if the host truncates
  uint8_t* truncated_;
};

}  // namespace backplane
