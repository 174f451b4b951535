// Assigns chunks of rows to runners. A runner holds a chunk for a few steps at a time. Every runner has a block of neighbouring
// chunks; after finishing its own, it steals the chunk that is furthest behind. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/moments.hpp"
#include "rollout/rows.hpp"

namespace backplane {

// Rows [begin, end), their step in the current rollout, and their results for its end.
struct alignas(64) Chunk {
  uint64_t begin = 0, end = 0, t = 0;
  std::vector<Episode> episodes;     // by (t, row)
  std::vector<double> infos;         // backs Episode::info
  std::vector<AlignedBytes> finals;  // per RolloutBuffers::observed: [episodes.size()] rows
  std::vector<Moments> moments;      // per block of rows
};

class ChunkQueue {
 public:
  ChunkQueue(uint64_t rows, uint64_t chunk_rows, unsigned runners);

  std::vector<Chunk>& chunks() { return chunks_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  // Gives every chunk `horizon` steps. No runner may hold a chunk. [control]
  void Start(uint64_t horizon);
  // Gives only these chunks steps, all others none. No runner may hold a chunk. [control]
  void StartOnly(const std::vector<uint64_t>& chunks);
  // NULL: others hold all remaining chunks and will finish them. [any]
  Chunk* Take(unsigned runner);
  void GiveBack(Chunk& chunk);

 private:
  size_t FurthestBehind(size_t begin, size_t end) const;

  std::vector<Chunk> chunks_;
  std::vector<size_t> blocks_;  // [runners + 1] first chunk of each runner
  uint64_t horizon_ = 0;
  // Steps done, with the highest bit set while a runner holds the chunk. A held chunk thus seems further ahead than any free
  // one.
  std::unique_ptr<std::atomic<uint64_t>[]> progress_;
};

}  // namespace backplane
