// Which runner takes which chunk of rows next. A chunk is held by one runner for a few steps at a time. Every runner has a
// block of neighbouring chunks; one that has nothing left to do there takes over the chunk that is furthest behind. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/moments.hpp"
#include "rollout/rows.hpp"

namespace backplane {

// Rows [begin, end), where they are in the current rollout, and what they have left for its end.
struct alignas(64) Chunk {
  uint64_t begin = 0, end = 0, t = 0;
  std::vector<Episode> episodes;     // by (t, row)
  std::vector<double> infos;         // backs Episode::info
  std::vector<AlignedBytes> finals;  // of each RolloutBuffers::observed: [episodes.size()] rows
  std::vector<Moments> moments;      // of blocks of rows
};

class ChunkQueue {
 public:
  ChunkQueue(uint64_t rows, uint64_t chunk_rows, unsigned runners);

  std::vector<Chunk>& chunks() { return chunks_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  // Every chunk has `horizon` steps to do. Nobody may hold one. [control]
  void Start(uint64_t horizon);
  // NULL: all that is left is held by others, who will finish it. [any]
  Chunk* Take(unsigned runner);
  void GiveBack(Chunk& chunk);

 private:
  size_t FurthestBehind(size_t begin, size_t end) const;

  std::vector<Chunk> chunks_;
  std::vector<size_t> blocks_;  // [runners + 1] first chunk of each runner
  uint64_t horizon_ = 0;
  // Steps done, with the highest bit while somebody holds the chunk: a held chunk looks further ahead than any free one.
  std::unique_ptr<std::atomic<uint64_t>[]> progress_;
};

}  // namespace backplane
