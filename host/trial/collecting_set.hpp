// The collectors, one per kind of request. Only one at a time binds the env's rows.
#pragma once

#include <utility>

#include "trial/collect_candidates.hpp"
#include "trial/collect_data.hpp"
#include "trial/collect_rollouts.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {

class CollectingSet {
 public:
  CollectingSet(const LoopParts& parts, LoopState& state, WarningList& warnings)
      : record_(parts, state),
        rollouts_(parts, state, record_, warnings),
        candidates_(parts, state, record_, warnings),
        data_(parts, state, warnings),
        offers_policy_(OffersPolicy(parts.learner)) {}

  static bool Serves(const bp_request& request) {
    return request.kind == BP_REQ_ROLLOUT || request.kind == BP_REQ_EVALUATE || request.kind == BP_REQ_DATA;
  }
  // The collector of a request, which one of them must serve.
  Collecting& Of(const bp_request& request) {
    switch (request.kind) {
      case BP_REQ_ROLLOUT: return rollouts_;
      case BP_REQ_EVALUATE: return candidates_;
      default: return data_;
    }
  }
  // Call before the learner's next plan. A learner that collects rollouts and offers its policy does not save its whole state
  // for workers.
  void BeforePlan(const bp_limits& limits) {
    if (!after_rollout_ || !offers_policy_) candidates_.BeforePlan(limits);
  }
  bool Collect(const bp_request& request) {
    after_rollout_ = request.kind == BP_REQ_ROLLOUT;
    Collecting& next = Of(request);
    if (next.BindsEnv() && bound_ != &next) std::exchange(bound_, &next)->ReleaseEnv();
    return next.Collect(request);
  }
  std::optional<ThreadUse> Use() const { return record_.Use(); }
  const Collecting& bound() const { return *bound_; }  // the one that binds the env's rows
  CollectData& data() { return data_; }
  const CollectData& data() const { return data_; }

  // Calls function(one) for each, in the order of a resume.
  void ForEach(auto&& function) { function(data_), function(rollouts_), function(candidates_); }

 private:
  PlayRecord record_;
  CollectRollouts rollouts_;
  CollectCandidates candidates_;
  CollectData data_;
  Collecting* bound_ = &rollouts_;
  bool after_rollout_ = false;
  const bool offers_policy_;
};

}  // namespace backplane
