// What the host owes every transition: returns and lengths of episodes, time limits, ends, moments of the observations.
#pragma once

#include <cstdint>

#include "rollout/chunk_queue.hpp"
#include "rollout/rollout_buffers.hpp"
#include "rollout/rows.hpp"

namespace backplane {

class Books {
 public:
  // `moments`: of all observations acted on.
  Books(const EnvInstance& env, uint64_t seed, bool moments);

  // After RolloutBuffers::Bind: room for everything a chunk may keep in one rollout. [control]
  void MakeRoom(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  void StartRollout(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  // Step chunk.t of the chunk's rows. True if some episode ended: rows().mask and rows().seeds then say which rows to reset and
  // how, unless the env has done so. Throws TrialFailure (BP_E_NUMERIC) if a reward is not finite; the sentence names the
  // row's observation instead if that was not finite before. [rows]
  bool Keep(RolloutBuffers& buffers, Chunk& chunk);
  Rows& rows() { return rows_; }

 private:
  void EndEpisode(RolloutBuffers& buffers, Chunk& chunk, uint64_t row);
  void RefuseFlags(RolloutBuffers& buffers, const Chunk& chunk) const;
  [[noreturn]] void RefuseReward(const RolloutBuffers& buffers, const Chunk& chunk) const;

  const EnvInstance& env_;
  Rows rows_;
  bool moments_, env_cuts_;
  int64_t time_limit_;
};

}  // namespace backplane
