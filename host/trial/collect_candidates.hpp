// Serves a learner that has candidates evaluated: whole episodes, each of one candidate and from its own seed.
#pragma once

#include <memory>

#include "rollout/candidate_scorer.hpp"
#include "trial/collecting.hpp"
#include "trial/play_record.hpp"
#include "trial/warnings.hpp"

namespace backplane {

class CollectCandidates : public Collecting {
 public:
  CollectCandidates(const LoopParts& parts, LoopState& state, PlayRecord& record, WarningList& warnings)
      : parts_(parts), state_(state), record_(record), warnings_(warnings) {}

  // What the learner asks for next may be this.
  void BeforePlan(const bp_limits& limits);
  void Check(const bp_request& request) const override;
  bool Collect(const bp_request& request) override;
  bool BindsEnv() const override { return true; }
  void ReleaseEnv() override { bound_ = false; }
  std::optional<std::string> NonFiniteObservation() const override { return scorer_->NonFiniteObservation(); }

 private:
  CandidateScorer& BoundScorer();
  void WarnOfCapped(const CandidateScorer& scorer);  // once

  const LoopParts& parts_;
  LoopState& state_;
  PlayRecord& record_;
  WarningList& warnings_;
  bool warned_of_cap_ = false;
  std::unique_ptr<CandidateScorer> scorer_;  // from the first request on
  bool bound_ = false;                       // to the env
};

}  // namespace backplane
