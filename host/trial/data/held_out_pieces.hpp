// Computes the held-out loss in pieces of neighbouring items, on several threads (BP_LEARNER_HELD_OUT_ANY).
#pragma once

#include <vector>

#include "data/data_loader.hpp"
#include "data/group.hpp"

namespace backplane {

class HeldOutPieces {
 public:
  // The first `n` items of a data set, in pieces of `piece` items. Throws TrialFailure.
  HeldOutPieces(EnvInstance& env, LearnerInstance& learner, uint64_t n, uint64_t piece);
  HeldOutPieces(const HeldOutPieces&) = delete;

  // Computes the loss of the piece that starts with this item; a data set may have fewer. Throws TrialFailure. [any]
  void Ask(uint64_t item);
  // The sum over all pieces, in order. Call after Ask for every piece.
  HeldOut Sum() const;

 private:
  LearnerInstance& learner_;
  const uint64_t piece_;
  ItemGroup group_;
  std::vector<bp_delivery> deliveries_;
  std::vector<double> losses_;  // per piece
};

}  // namespace backplane
