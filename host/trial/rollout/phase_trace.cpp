#include "rollout/phase_trace.hpp"

namespace backplane {

void PhaseTrace::Add(Phase phase, int64_t begin_ns, int64_t end_ns) {
  if (end_ns_ == 0) block_begin_ns_ = end_ns_ = begin_ns;
  if (end_ns < end_ns_) return GoBackTo(end_ns);
  if (begin_ns > end_ns_) AddPiece(Phase::kIdle, begin_ns);
  AddPiece(phase, end_ns);
}

// The clock was set back, so the earlier time was too long. Avoids a negative piece.
void PhaseTrace::GoBackTo(int64_t now_ns) {
  EndBlock();
  block_begin_ns_ = end_ns_ = now_ns;
}

// Adds a piece from the end of the last one to `end_ns`.
void PhaseTrace::AddPiece(Phase phase, int64_t end_ns) {
  const int64_t begin_ns = end_ns_, duration_ns = end_ns - begin_ns;
  if (duration_ns >= kResolutionNs) {
    EndBlock();
    Write({begin_ns, duration_ns, 1, phase});
    block_begin_ns_ = end_ns_ = end_ns;
    return;
  }
  Merged& merged = block_[static_cast<size_t>(phase)];
  merged.ns += duration_ns;
  ++merged.count;
  end_ns_ = end_ns;
  if (end_ns_ - block_begin_ns_ >= kResolutionNs) EndBlock();
}

void PhaseTrace::EndBlock() {
  int64_t at = block_begin_ns_;
  for (size_t p = 0; p < kPhaseCount; ++p) {
    if (block_[p].count == 0) continue;
    Write({at, block_[p].ns, block_[p].count, static_cast<Phase>(p)});
    at += block_[p].ns;
    block_[p] = {};
  }
  block_begin_ns_ = end_ns_;
}

void PhaseTrace::Write(const TracedSpan& span) {
  if (spans_.size() < spans_.capacity())
    spans_.push_back(span);
  else
    ++dropped_;
}

}  // namespace backplane
