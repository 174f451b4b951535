// Decides what follows an ended attempt: a state of the trial, another try, or a stop of the batch. No clock, no files.
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
  TrialState state;                     // of the trial from now on; PLANNED: it runs again
  std::optional<double> retry_after_s;  // set when it is tried again in this session
};

// What `on_failure` wants.
class FailurePolicy {
 public:
  explicit FailurePolicy(const OnFailure& rules) : rules_(rules) {}

  // `trial_id` only tells tries of one trial from another's.
  FailureDecision After(const std::string& trial_id, const AttemptVerdict& verdict);
  // A trial that failed in an earlier session for a reason that is not its own, a full disk for example, and is worth another
  // try in this one.
  bool MayPassByNow(const TrialRecord& trial) const;

 private:
  OnFailure rules_;
  std::map<std::pair<std::string, Outcome>, unsigned> tries_;  // of a trial -> tries that ended so in this session
};

// Stops a batch whose trials fail one after the other for a reason that is not theirs: a full disk, a broken library. What the
// numbers themselves brought about (nan, oom) does not count.
class StopRules {
 public:
  StopRules(const StopSweep& rules, size_t trials) : rules_(rules), trials_(trials) {}

  // After each trial that reached a final state. `now_s` on any clock that only grows. Why the batch must pause, if it must.
  std::optional<std::string> Ended(TrialState state, Outcome outcome, double now_s);

 private:
  StopSweep rules_;
  size_t trials_, failed_ = 0;
  bool any_usable_ = false;
  unsigned initial_failures_ = 0;
  std::deque<double> recent_;  // times of the failures that count
};

}  // namespace backplane
