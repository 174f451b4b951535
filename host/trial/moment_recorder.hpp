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
  // Call both around the collection of an iteration's rollout. [control]
  void BeforeRollout(uint64_t iteration, RolloutCollector& collector);
  void AfterRollout(uint64_t iteration, RolloutCollector& collector, uint64_t horizon);

 private:
  void AddChannel(const std::string& name, const char* role, ChannelBuffer& buffer, uint64_t horizon,
                  MomentAnswer* answer) const;
  void Draw(RolloutCollector& collector, MomentAnswer* answer);
  void GoTo(RolloutCollector& collector, SlotBuffers& slot);

  const MomentOrder order_;
  EnvInstance& env_;
  const LearnerInstance& learner_;
  EnvInstance* const viewer_;
  const std::filesystem::path attempt_dir_;
  std::vector<std::byte> before_;  // the row's snapshot before the rollout; empty: it starts a new episode
  std::vector<uint64_t> seeds_;    // of the row's next episodes
};

}  // namespace backplane
