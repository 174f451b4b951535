// Ticks: a learner works for a while without anything new, and the trial may have to end between two of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/long_ticks.hpp"
#include "trial/checkpointing.hpp"

namespace backplane {

// Adds a tick of more than a second to the entry of its phase (record/long_ticks.hpp). There is room for so many phases; those
// that come after them share an entry, "other".
inline constexpr size_t kMaxTickPhases = 32;
void NoteLongTick(const std::string& phase, double seconds, std::vector<LongTicks>* table);

class Ticks {
 public:
  Ticks(const LoopParts& parts, LoopState& state, CollectingSet& collecting, Checkpointing& checkpointing)
      : parts_(parts), state_(state), collecting_(collecting), checkpointing_(checkpointing) {}

  void Run(const bp_request& request);
  // Whether a trial ends here that was told to stop, or that is out of time: no request comes in which that is looked at. An
  // iteration that ticks has a while to come to its end; then it is dropped as one that is stopped while it collects. One
  // before which nothing was kept is not dropped.
  bool EndTrial(bool cancelled);
  const std::vector<LongTicks>& long_ticks() const { return long_ticks_; }

 private:
  const LoopParts& parts_;
  LoopState& state_;
  CollectingSet& collecting_;
  Checkpointing& checkpointing_;
  std::vector<LongTicks> long_ticks_;
  int64_t should_end_since_ns_ = 0;  // 0: it should not
};

}  // namespace backplane
