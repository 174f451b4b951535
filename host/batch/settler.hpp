// Settles an ended attempt: records it, and decides about the trial, dependent trials and the batch.
#pragma once

#include <set>
#include <string>

#include "batch/batch_state.hpp"
#include "batch/failure_policy.hpp"
#include "batch/job_table.hpp"
#include "batch/search_driver.hpp"
#include "batch/version_watch.hpp"

namespace backplane {

class Settler {
 public:
  // `failure_policy` counts the retries of this session.
  Settler(BatchState* state, SearchDriver* search, FailurePolicy* failure_policy)
      : state_(*state),
        search_(*search),
        failure_policy_(*failure_policy),
        stop_rules_(state->plan.base.experiment.stop_sweep, search->most_searched()) {}

  void Finish(const JobTable::Ended& ended);
  // The trial could not start, for example because the disk is full or no process can be created. A retry may succeed.
  void NotStarted(size_t trial, unsigned attempt, const std::string& why);
  // Skips trials whose earlier stage did not complete.
  void SkipWhatNeverCan() { state_.SetStates(NeverStarting(state_.plan, state_.schedule, state_.names)); }

 private:
  void Settle(size_t trial, unsigned attempt, const AttemptVerdict& verdict, AttemptEnd told);
  void LookAtVersions(const PluginFacts& facts, size_t trial);

  BatchState& state_;
  SearchDriver& search_;
  FailurePolicy& failure_policy_;
  StopRules stop_rules_;
  std::set<std::string> warned_;  // kinds of warnings already shown
  VersionWatch versions_;
  bool knows_versions_ = false;  // versions of earlier sessions
};

}  // namespace backplane
