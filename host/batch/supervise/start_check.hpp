// What the plugins of a plan say to it before the first trial starts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "supervise/batch_state.hpp"

namespace backplane {

class StartCheck {
 public:
  // `engine` and `resource_pool`: where trials run; the plugins are asked there unless the request names another place.
  StartCheck(BatchState* state, Engine* engine, ResourcePool* resource_pool)
      : state_(*state), engine_(engine), resource_pool_(resource_pool) {}

  // Asks about `trials`; about probes of the space if `searches`, because nobody knows yet what will be suggested. The report
  // gets what they refuse.
  void Ask(std::vector<size_t> trials, bool searches);
  bool asked() const { return asked_; }
  // All that there is to run is taken, or the rest of it is to be run.
  bool MayStart() const { return state_.request.skip_invalid || state_.report.checks.empty(); }
  // What becomes of the trials that were refused; this session leaves them.
  ChangedStates LeaveRefused();

  // Of what a search looks for: 1 up, -1 down is better, by those who will record it; 0: nobody says.
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
