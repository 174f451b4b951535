// Where one thread's time went, span by span, for whoever wants to look at it. Phase clocks write into one while somebody does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollout/phase_clock.hpp"

namespace backplane {

struct TracedSpan {
  int64_t begin_ns, duration_ns;
  uint64_t count;  // spans of the clock that were merged into this one
  Phase phase;
};

// A step of a small env takes microseconds, and nobody looks at millions of spans. So what is shorter than kResolutionNs is
// merged: neighbouring short spans form a block that ends when it is that long or when a long span begins, and of a block each
// phase is one span. What a phase took, in a block and in all, is exact; only the order within a block is not what happened.
// Spans follow each other without a gap: a thread at rest is idle.
//
// Written by its own thread; others read and clear it while that thread rests.
class PhaseTrace {
 public:
  static constexpr int64_t kResolutionNs = 1'000'000;

  // Room for `capacity` spans, at once; what comes after that is counted and dropped.
  explicit PhaseTrace(size_t capacity) { spans_.reserve(capacity); }

  void Add(Phase phase, int64_t begin_ns, int64_t end_ns);
  // Ends the block under way, so that `spans` has everything that was added.
  void EndBlock();
  const std::vector<TracedSpan>& spans() const { return spans_; }
  uint64_t dropped() const { return dropped_; }
  void Clear() { spans_.clear(), dropped_ = 0; }

 private:
  struct Merged {
    int64_t ns = 0;
    uint64_t count = 0;
  };
  void GoBackTo(int64_t now_ns);
  void AddPiece(Phase phase, int64_t end_ns);
  void Write(const TracedSpan& span);

  std::vector<TracedSpan> spans_;
  uint64_t dropped_ = 0;
  std::array<Merged, kPhaseCount> block_{};
  int64_t block_begin_ns_ = 0;
  int64_t end_ns_ = 0;  // of the last span added; 0: none yet
};

}  // namespace backplane
