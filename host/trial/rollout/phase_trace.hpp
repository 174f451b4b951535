// A thread's spans in order of time, for monitors. Phase clocks fill it while a monitor wants it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollout/phase_clock.hpp"

namespace backplane {

struct TracedSpan {
  int64_t begin_ns, duration_ns;
  uint64_t count;  // number of merged spans
  Phase phase;
};

// A step of a small env takes microseconds, so a full trace would have millions of spans. Spans shorter than kResolutionNs are
// merged: neighbouring short spans form a block, which ends at that length or when a long span begins. A block has one span per
// phase. The time of a phase is exact, per block and in total; only the order within a block is lost. Spans have no gaps: an
// idle thread has an idle span.
//
// Written by its own thread; others read and clear it while that thread is idle.
class PhaseTrace {
 public:
  static constexpr int64_t kResolutionNs = 1'000'000;

  // Reserves memory for `capacity` spans; counts and drops later ones.
  explicit PhaseTrace(size_t capacity) { spans_.reserve(capacity); }

  void Add(Phase phase, int64_t begin_ns, int64_t end_ns);
  // Ends the current block, so that `spans` is complete.
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
  int64_t end_ns_ = 0;  // of the last span; 0: none yet
};

}  // namespace backplane
