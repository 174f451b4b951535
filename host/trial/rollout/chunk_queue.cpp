#include "rollout/chunk_queue.hpp"

#include <algorithm>

namespace backplane {
namespace {
constexpr uint64_t kHeld = uint64_t{1} << 63;
}

ChunkQueue::ChunkQueue(uint64_t rows, uint64_t chunk_rows, unsigned runners)
    : chunks_((rows + chunk_rows - 1) / chunk_rows), progress_(std::make_unique<std::atomic<uint64_t>[]>(chunks_.size())) {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    chunks_[i].begin = i * chunk_rows;
    chunks_[i].end = std::min(chunks_[i].begin + chunk_rows, rows);
  }
  for (size_t runner = 0; runner <= runners; ++runner) blocks_.push_back(runner * chunks_.size() / runners);
}

void ChunkQueue::Start(uint64_t horizon) {
  horizon_ = horizon;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    chunks_[i].t = 0;
    progress_[i].store(0, std::memory_order_relaxed);
  }
}

void ChunkQueue::StartOnly(const std::vector<uint64_t>& chunks) {
  for (size_t i = 0; i < chunks_.size(); ++i) progress_[i].store(horizon_, std::memory_order_relaxed);
  for (const uint64_t i : chunks) {
    chunks_[i].t = 0;
    progress_[i].store(0, std::memory_order_relaxed);
  }
}

Chunk* ChunkQueue::Take(unsigned runner) {
  for (;;) {
    size_t best = FurthestBehind(blocks_[runner], blocks_[runner + 1]);
    if (best == chunks_.size()) best = FurthestBehind(0, chunks_.size());
    if (best == chunks_.size()) return nullptr;
    uint64_t steps = progress_[best].load(std::memory_order_relaxed);
    if (steps >= horizon_) continue;  // another runner was faster
    if (progress_[best].compare_exchange_strong(steps, steps | kHeld, std::memory_order_acquire)) return &chunks_[best];
  }
}

void ChunkQueue::GiveBack(Chunk& chunk) {
  progress_[static_cast<size_t>(&chunk - chunks_.data())].store(chunk.t, std::memory_order_release);
}

// The free chunk in [begin, end) with the fewest steps done; chunks_.size(): none is free.
size_t ChunkQueue::FurthestBehind(size_t begin, size_t end) const {
  size_t best = chunks_.size();
  uint64_t least = horizon_;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t steps = progress_[i].load(std::memory_order_relaxed);
    if (steps < least) least = steps, best = i;
  }
  return best;
}

}  // namespace backplane
