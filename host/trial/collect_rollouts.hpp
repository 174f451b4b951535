// Serves a learner that requests rollouts: a number of steps of every row, which continue from the last ones. The learner may
// consume them in parts; all of them are one iteration.
#pragma once

#include <vector>

#include "rollout/rollout_collector.hpp"
#include "rollout/rollout_part.hpp"
#include "trial/collecting.hpp"
#include "trial/play_record.hpp"
#include "trial/warnings.hpp"

namespace backplane {

// The episodes that ended in the parts of a rollout, with copies of their infos, which the next part overwrites.
class EndedEpisodes {
 public:
  void Clear() { episodes_.clear(), infos_.clear(); }
  // `infos`: numbers of each episode.
  void Add(const std::vector<Episode>& episodes, size_t infos);
  // All of them, in the order of the parts; `t` counts from the first step of the part. Valid until the next Add or Clear.
  const std::vector<Episode>& Episodes();

 private:
  std::vector<Episode> episodes_;
  std::vector<double> infos_;
  size_t infos_each_ = 0;
};

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
  bool Play(const RolloutPart& part);
  void Deliver(const RolloutPart& part);

  const LoopParts& parts_;
  LoopState& state_;
  PlayRecord& record_;
  WarningList& warnings_;
  RolloutCollector collector_;
  EndedEpisodes ended_;
};

}  // namespace backplane
