// Serves a learner that requests rollouts: a number of steps of every row, which continue from the last ones.
#pragma once

#include "rollout/rollout_collector.hpp"
#include "trial/collecting.hpp"
#include "trial/play_record.hpp"
#include "trial/warnings.hpp"

namespace backplane {

class CollectRollouts : public Collecting {
 public:
  CollectRollouts(const LoopParts& parts, LoopState& state, PlayRecord& record, WarningList& warnings);

  void Check(const bp_request& request) const override;
  bool Collect(const bp_request& request) override;
  bool BindsEnv() const override { return true; }
  void ReleaseEnv() override { collector_.ReleaseEnv(); }
  std::optional<std::string> NonFiniteObservation() const override;
  // Saves the progress of the rows. Without the env's states, episodes in progress are lost; the next ones get the same seeds
  // and noise as without a stop.
  void Save(Checkpoint* checkpoint) override;
  void Load(const Checkpoint& checkpoint) override;

 private:
  const LoopParts& parts_;
  LoopState& state_;
  PlayRecord& record_;
  WarningList& warnings_;
  RolloutCollector collector_;
};

}  // namespace backplane
