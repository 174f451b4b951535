// Records a chunk's results of a rollout: ended episodes with their last observations, and moments of all observations. Selects
// the rows to reset and their seeds.
#pragma once

#include <cstdint>

#include "rollout/chunk_queue.hpp"
#include "rollout/episode_tracker.hpp"
#include "rollout/rollout_buffers.hpp"
#include "rollout/rows.hpp"

namespace backplane {

class ChunkRecorder {
 public:
  // Sums the moments of all observations per block of `moment_rows` rows, so that the order of the sums is fixed. 0: no
  // moments.
  ChunkRecorder(const EnvInstance& env, uint64_t seed, uint64_t moment_rows);

  // Call after RolloutBuffers::Bind: allocates everything that a chunk may keep in one rollout. [control]
  void MakeRoom(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  void StartRollout(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  // Records step chunk.t of the chunk's rows. True if some episode ended; rows().mask and rows().seeds then select the rows to
  // reset and their seeds, unless the env has reset them. Throws TrialFailure (BP_E_NUMERIC) if a reward is not finite. The
  // sentence names the row's observation instead if that was non-finite before. [rows]
  bool Record(RolloutBuffers& buffers, Chunk& chunk);
  Rows& rows() { return rows_; }

 private:
  const double* OwnReturns(uint64_t row) const { return env_.own_returns() ? env_.own_returns() + row : nullptr; }
  void AddMoments(const RolloutBuffers& buffers, Chunk& chunk) const;
  void EndEpisode(RolloutBuffers& buffers, Chunk& chunk, uint64_t row);
  void RefuseFlags(RolloutBuffers& buffers, const Chunk& chunk) const;
  [[noreturn]] void RefuseReward(const RolloutBuffers& buffers, const Chunk& chunk) const;

  const EnvInstance& env_;
  EpisodeTracker tracker_;
  Rows rows_;
  uint64_t moment_rows_;
};

}  // namespace backplane
