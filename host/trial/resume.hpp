// How a trial begins with what was learned before: with its own last checkpoint, or with another trial's.
#pragma once

#include <stdexcept>

#include "trial/collecting_set.hpp"

namespace backplane {

// The checkpoint that the trial would go on from is whole, and a plugin or the loop has no use for it. The loop and the plugins
// may have taken over a part of it and are good for nothing more.
class CheckpointRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// False: there is no checkpoint of its own. Throws TrialFailure and CheckpointRefused.
bool Resume(const LoopParts& parts, LoopState* state, CollectingSet* collecting);
// From the trial that spec.start_from names only what was learned is taken over: rows, seeds and counters are those of a trial
// that begins. Throws TrialFailure.
void StartFromOther(const LoopParts& parts);

}  // namespace backplane
