// The held-out loss in pieces of neighbouring items, for which several threads may ask (BP_LEARNER_HELD_OUT_ANY).
#pragma once

#include <vector>

#include "data/data_loader.hpp"
#include "data/group.hpp"

namespace backplane {

class HeldOutPieces {
 public:
  // The first `n` items of a data set, `piece` at a time; the learner tells its loss. Throws TrialFailure.
  HeldOutPieces(EnvInstance& env, LearnerInstance& learner, uint64_t n, uint64_t piece);
  HeldOutPieces(const HeldOutPieces&) = delete;

  // Asks the learner for the piece of that item, which is its first; a data set may have fewer. Throws TrialFailure. [any]
  void Ask(uint64_t item);
  // Of all pieces, in their order, once all were asked for.
  HeldOut Sum() const;

 private:
  LearnerInstance& learner_;
  const uint64_t piece_;
  ItemGroup group_;
  std::vector<bp_delivery> deliveries_;
  std::vector<double> losses_;  // of each
};

}  // namespace backplane
