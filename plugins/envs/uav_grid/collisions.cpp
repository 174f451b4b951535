#include "collisions.hpp"

#include <algorithm>

namespace backplane::uav_grid {

void CrashConflicts(Proposals* p) {
  const auto crash = [p](Cause cause) {
    return [p, cause](int64_t i, int64_t k) {
      p->cause[i] = std::min(p->cause[i], cause);
      p->cause[k] = std::min(p->cause[k], cause);
    };
  };
  p->meetings.ForEach(p->to.data(), p->n, crash(kVertex));
  p->meetings.ForEach(p->middle.data(), p->n, crash(kEdge));
}

// Each pass finds the conflicts of one set of proposals.
void HoldBackConflicts(bool priority, Proposals* p) {
  const auto hold = [p](int64_t k, Cause cause) {
    if (p->Moves(k)) p->held[k] = std::min(p->held[k], cause);
  };
  for (bool changed = true; changed;) {
    changed = false;
    std::fill_n(p->held.begin(), p->n, kNone);
    // If the cell is empty, priority lets the mover with the lowest index pass.
    p->meetings.ForEach(p->to.data(), p->n, [&](int64_t first, int64_t k) {
      if (!priority || !p->Moves(k)) hold(first, kVertex);
      hold(k, kVertex);
    });
    p->meetings.ForEach(p->middle.data(), p->n, [&](int64_t first, int64_t k) { hold(first, kEdge), hold(k, kEdge); });
    for (int64_t k = 0; k < p->n; ++k) {
      if (p->held[k] == kNone) continue;
      p->cause[k] = p->held[k];
      p->Stay(k);
      changed = true;
    }
  }
}

}  // namespace backplane::uav_grid
