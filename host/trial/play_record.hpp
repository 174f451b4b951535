// Records rollouts and episodes of candidates alike: the steps, the ended episodes, and the use of the runner threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/trial_result.hpp"
#include "rollout/pool.hpp"
#include "rollout/rows.hpp"
#include "trial/loop_parts.hpp"
#include "trial/loop_state.hpp"

namespace backplane {

class PlayRecord {
 public:
  PlayRecord(const LoopParts& parts, LoopState& state) : parts_(parts), state_(state) {}

  // Adds the use of the threads in a request, or in one part of it.
  void AddUse(const PoolUse& use);
  // Adds a completed request.
  void Add(uint64_t steps, const std::vector<Episode>& episodes, const std::vector<std::string>& info_names);
  std::optional<ThreadUse> Use() const;  // mean over the calls of AddUse; absent: there was none

 private:
  void PostEpisodes(const std::vector<Episode>& episodes);

  const LoopParts& parts_;
  LoopState& state_;
  PoolUse use_sum_{0, 0};
  uint64_t uses_ = 0;
};

}  // namespace backplane
