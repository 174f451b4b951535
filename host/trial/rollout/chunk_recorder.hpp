// What a chunk's rows leave of a rollout for its end: the episodes that ended, with their last observations, and moments of all
// observations. Says which rows to reset, and how.
#pragma once

#include <cstdint>

#include "rollout/chunk_queue.hpp"
#include "rollout/episode_tracker.hpp"
#include "rollout/rollout_buffers.hpp"
#include "rollout/rows.hpp"

namespace backplane {

class ChunkRecorder {
 public:
  // Moments of all observations acted on are summed up for `moment_rows` rows each: of so many the order of the sums depends on
  // nothing else. 0: nobody wants them.
  ChunkRecorder(const EnvInstance& env, uint64_t seed, uint64_t moment_rows);

  // After RolloutBuffers::Bind: room for everything a chunk may keep in one rollout. [control]
  void MakeRoom(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  void StartRollout(const RolloutBuffers& buffers, std::vector<Chunk>& chunks) const;
  // Step chunk.t of the chunk's rows. True if some episode ended: rows().mask and rows().seeds then say which rows to reset and
  // how, unless the env has done so. Throws TrialFailure (BP_E_NUMERIC) if a reward is not finite; the sentence names the
  // row's observation instead if that was not finite before. [rows]
  bool Record(RolloutBuffers& buffers, Chunk& chunk);
  Rows& rows() { return rows_; }

 private:
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
