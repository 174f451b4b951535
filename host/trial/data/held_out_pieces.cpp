#include "data/held_out_pieces.hpp"

#include <algorithm>
#include <numeric>

#include "backplane/ext/held_out.h"

namespace backplane {

HeldOutPieces::HeldOutPieces(EnvInstance& env, LearnerInstance& learner, uint64_t n, uint64_t piece)
    : learner_(learner), piece_(piece), group_(env) {
  group_.Read(0, 0, std::min(n, ItemsOf(env)), false);
  deliveries_ = group_.Cut(piece_);
  losses_.resize(deliveries_.size());
}

void HeldOutPieces::Ask(uint64_t item) {
  const uint64_t at = item / piece_;
  if (at >= deliveries_.size()) return;
  const auto* held_out = learner_.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1);
  learner_.Call("held-out loss", [&](bp_learner* learner) { return held_out->loss(learner, &deliveries_[at], &losses_[at]); });
}

HeldOut HeldOutPieces::Sum() const {
  return {std::accumulate(losses_.begin(), losses_.end(), 0.0) / group_.weight(), group_.items()};
}

}  // namespace backplane
