// Tracks the episodes of an env that is bound to one slot (SlotBuffers). What the host cuts there is its own to know: it is not
// written into the env's channels.
#pragma once

#include <string>
#include <vector>

#include "rollout/episode_tracker.hpp"
#include "rollout/slot_buffers.hpp"

namespace backplane {

class SlotTracker {
 public:
  // Both outlive it. The host sees in `slot` what tells of a step.
  SlotTracker(const EnvInstance& env, SlotBuffers& slot);

  // No episode is longer from now on, whoever owns the time limit; 0: as the env has it. [control]
  void LimitTo(uint64_t max_steps);
  // The most steps of an episode that the env does not end. If the host counts, it is the declared limit. Else it is the
  // larger one of the declared limit and `cap`.
  static uint64_t CapOf(const EnvInstance& env, uint64_t cap);

  // Adds the step that the slot holds of rows [begin, end) to these among `rows`. [rows]
  template <class Row>
  EpisodeTracker::Seen Add(Row* rows, uint64_t begin, uint64_t end) {
    const EpisodeTracker::Step step{reward_ + begin * rewards_per_row_, terminated_ + begin,
                                    cut_by_env_ != nullptr ? cut_by_env_ + begin : nullptr, truncated_ + begin,
                                    rewards_per_row_};
    return tracker_.Add(rows + begin, end - begin, step);
  }
  // Of the step that was added last. [rows]
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
  const float* const reward_;
  const uint8_t* const terminated_;
  uint8_t* const cut_by_env_;  // NULL: it does not
  std::vector<uint8_t> own_;   // [rows], where the host cuts
  uint8_t* truncated_;
};

}  // namespace backplane
