// What follows from an attempt that ended: for the record, for the trial and those that depend on it, for the batch.
#pragma once

#include <set>
#include <string>

#include "supervise/batch_state.hpp"
#include "supervise/failure_policy.hpp"
#include "supervise/job_table.hpp"
#include "supervise/search_driver.hpp"
#include "supervise/version_watch.hpp"

namespace backplane {

class Settler {
 public:
  // `failure_policy` knows the tries of this session.
  Settler(BatchState* state, SearchDriver* search, FailurePolicy* failure_policy)
      : state_(*state),
        search_(*search),
        failure_policy_(*failure_policy),
        stop_rules_(state->plan.base.experiment.stop_sweep, search->most_searched()) {}

  void Finish(const JobTable::Ended& ended);
  // The disk is full, no process can be made: not the trial's fault, and it may pass.
  void NotStarted(size_t trial, unsigned attempt, const std::string& why);
  // Trials that cannot start any more, because the one before them ended otherwise.
  void SkipWhatNeverCan() { state_.SetStates(NeverStarting(state_.plan, state_.schedule, state_.names)); }

 private:
  void Settle(size_t trial, unsigned attempt, const AttemptVerdict& verdict, AttemptEnd told);
  void LookAtVersions(const PluginFacts& facts, size_t trial);

  BatchState& state_;
  SearchDriver& search_;
  FailurePolicy& failure_policy_;
  StopRules stop_rules_;
  std::set<std::string> warned_;  // kinds of warnings that were shown
  VersionWatch versions_;
  bool knows_versions_ = false;  // of trials of earlier sessions
};

}  // namespace backplane
