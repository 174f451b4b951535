// Serves a learner that evaluates candidates: whole episodes, each with one candidate and its own seed.
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

  // Prepares for the learner's next request, which may be this one.
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
  bool turn_begun_ = false;                  // the workers can plan the next request
  std::unique_ptr<CandidateScorer> scorer_;  // created by the first request
  bool bound_ = false;                       // to the env
};

}  // namespace backplane
