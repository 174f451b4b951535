// Warns of metrics in the experiment file that a trial by command does not report. Commands declare no metrics, so this is
// known only after the first report.
#pragma once

#include <set>
#include <string>

#include "batch/batch_state.hpp"
#include "batch/job_table.hpp"

namespace backplane {

class NameWatch {
 public:
  explicit NameWatch(BatchState* state) : state_(*state) {}

  // After the first report of a running trial: only names that resemble a reported one, because others may follow.
  void Look(const JobTable& jobs);
  // After the first trial that ended with reports: all names.
  void Ended(const JobTable::Job& job);

 private:
  bool Warn(const JobTable::Job& job, bool has_ended);

  BatchState& state_;
  bool looked_ = false, ended_ = false;
  std::set<std::string> names_;  // warned of
};

}  // namespace backplane
