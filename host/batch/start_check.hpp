// Checks a plan with its plugins before the first trial starts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "batch/batch_state.hpp"

namespace backplane {

class StartCheck {
 public:
  // Checks run in `engine`, with resources from `resource_pool`, unless the request names another place.
  StartCheck(BatchState* state, Engine* engine, ResourcePool* resource_pool)
      : state_(*state), engine_(engine), resource_pool_(resource_pool) {}

  // Checks `trials`, or probes of the search space if `searches`, because suggestions are not known yet. Adds errors to the
  // report.
  void Ask(std::vector<size_t> trials, bool searches);
  bool asked() const { return asked_; }
  // True if no check failed, or if the batch skips invalid trials.
  bool MayStart() const { return state_.request.skip_invalid || state_.report.checks.empty(); }
  // Removes rejected trials from the schedule and returns the new states of trials that can never run.
  ChangedStates LeaveRefused();

  // 1 to maximize or -1 to minimize the search's metric, according to the plugin that records it; 0 if unknown.
  int direction() const { return direction_; }
  const std::set<std::string>& unsaved() const { return unsaved_; }  // learners that save no state

 private:
  std::vector<size_t> CheckableHere(const Plan& plan, std::vector<size_t> trials) const;

  BatchState& state_;
  Engine* engine_;
  ResourcePool* resource_pool_;
  bool asked_ = false;
  int direction_ = 0;
  std::set<std::string> unsaved_;
};

}  // namespace backplane
