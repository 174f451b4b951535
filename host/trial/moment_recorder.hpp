// Writes one rollout of a replayed trial for `backplane inspect`, and ends the trial after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "record/moment_order.hpp"
#include "rollout/rollout_collector.hpp"

namespace backplane {

class MomentRecorder {
 public:
  // `viewer`: an env of one row with the training's options, for the picture; NULL: none. `attempt_dir`: of the replay. All
  // outlive it.
  MomentRecorder(MomentOrder order, EnvInstance& env, const LearnerInstance& learner, EnvInstance* viewer,
                 std::filesystem::path attempt_dir)
      : order_(std::move(order)), env_(env), learner_(learner), viewer_(viewer), attempt_dir_(std::move(attempt_dir)) {}

  // Throws TrialFailure (BP_E_UNSUPPORTED) if the learner collects no rollouts, (BP_E_CONFIG) if there is no such row or step.
  void Check(const bp_request& request) const;
  // Call before the collection of an iteration's rollout, and after each of its parts. [control]
  void BeforeRollout(uint64_t iteration, RolloutCollector& collector);
  void AfterPart(uint64_t iteration, RolloutCollector& collector, const RolloutPart& part);

 private:
  // All steps of a channel, copied from the parts: [entries, lead, ...].
  struct Kept {
    ChannelBuffer* buffer;  // contains the last part
    const char* role;
    std::vector<std::byte> bytes;
    // The first number of the row at a time entry.
    const std::byte* row(uint64_t entry, uint64_t first) const {
      return bytes.data() + (entry * buffer->lead() + first) * buffer->row_bytes();
    }
  };
  void Keep(ChannelBuffer* buffer, const char* role);
  const Kept& Find(const std::string& name) const;
  void Write(const Kept& kept, MomentAnswer* answer) const;
  void Draw(MomentAnswer* answer);
  void GoTo(SlotBuffers& slot);

  const MomentOrder order_;
  EnvInstance& env_;
  const LearnerInstance& learner_;
  EnvInstance* const viewer_;
  const std::filesystem::path attempt_dir_;
  std::vector<std::byte> before_;  // the row's snapshot before the rollout; empty: it starts a new episode
  std::vector<uint64_t> seeds_;    // of the row's next episodes
  std::vector<Kept> kept_;
};

}  // namespace backplane
