// Decides what follows an ended attempt: a final state, another attempt, or a stop of the batch. Uses no clock and no files.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "batch/outcome.hpp"
#include "contract/experiment.hpp"
#include "record/batch_record.hpp"

namespace backplane {

struct FailureDecision {
  TrialState state;                     // the trial's new state; PLANNED: it runs again
  std::optional<double> retry_after_s;  // set if this session starts another attempt
};

// Applies `on_failure`.
class FailurePolicy {
 public:
  explicit FailurePolicy(const OnFailure& rules) : rules_(rules) {}

  // `trial_id` distinguishes the attempts of different trials.
  FailureDecision After(const std::string& trial_id, const AttemptVerdict& verdict);
  // True if an external cause, such as a full disk, failed the trial in an earlier session, so that another attempt may
  // succeed.
  bool MayPassByNow(const TrialRecord& trial) const;

 private:
  OnFailure rules_;
  std::map<std::pair<std::string, Outcome>, unsigned> tries_;  // by trial: attempts with this outcome in this session
};

// Stops a batch if successive trials fail for external causes: a full disk, a broken library. INFEASIBLE trials do not count;
// diverged ones (nan) count only towards max_failed_fraction.
class StopRules {
 public:
  StopRules(const StopSweep& rules, size_t trials) : rules_(rules), trials_(trials) {}

  // Call after each trial that reached a final state. `now_s`: any monotonic clock. Returns why the batch must pause, if it
  // must.
  std::optional<std::string> Ended(TrialState state, Outcome outcome, double now_s);

 private:
  StopSweep rules_;
  size_t trials_, failed_ = 0;
  bool any_usable_ = false;
  unsigned initial_failures_ = 0;
  std::deque<double> recent_;  // times of counted failures
};

}  // namespace backplane
