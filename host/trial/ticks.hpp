// Ticks: a learner works for a while without new data, and the trial may have to end between two of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/long_ticks.hpp"
#include "trial/checkpointing.hpp"

namespace backplane {

// Adds a tick of more than a second to the entry of its phase (record/long_ticks.hpp). After kMaxTickPhases phases, all others
// share an entry, "other".
inline constexpr size_t kMaxTickPhases = 32;
void NoteLongTick(const std::string& phase, double seconds, std::vector<LongTicks>* table);

class Ticks {
 public:
  Ticks(const LoopParts& parts, LoopState& state, CollectingSet& collecting, Checkpointing& checkpointing)
      : parts_(parts), state_(state), collecting_(collecting), checkpointing_(checkpointing) {}

  void Run(const bp_request& request);
  // True if a stopped trial or one out of time ends here, because no request comes that would check it. An iteration that ticks
  // gets some time to complete; then it is dropped, as if stopped while it collects. If no state was kept before the iteration,
  // it is not dropped.
  bool EndTrial(bool cancelled);
  const std::vector<LongTicks>& long_ticks() const { return long_ticks_; }

 private:
  const LoopParts& parts_;
  LoopState& state_;
  CollectingSet& collecting_;
  Checkpointing& checkpointing_;
  std::vector<LongTicks> long_ticks_;
  int64_t should_end_since_ns_ = 0;  // 0: it should not end
};

}  // namespace backplane
