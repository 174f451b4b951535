// What the parts of a running batch share: the plan, its schedule, and the records in the results folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/log.hpp"
#include "store/database.hpp"
#include "store/event_log.hpp"
#include "supervise/attempt.hpp"
#include "supervise/batch.hpp"
#include "supervise/batch_display.hpp"
#include "supervise/folder_watch.hpp"
#include "supervise/layout.hpp"
#include "supervise/opening.hpp"
#include "supervise/schedule.hpp"

namespace backplane {

// For the thread of the batch. `request` has to outlive it. Functions that write throw std::runtime_error if they cannot.
class BatchState {
 public:
  explicit BatchState(BatchRequest* request);

  const BatchRequest& request;
  Plan& plan;
  const RunOnly only;
  Schedule schedule;
  BatchDisplay display;
  std::vector<std::string> names;  // [trials]
  std::unique_ptr<OutLock> lock;
  std::optional<SessionLog> session_log;
  std::unique_ptr<FolderWatch> watch;
  std::unique_ptr<EventLog> log;
  std::unique_ptr<Database> database;
  BatchReport report;
  int interrupts = 0;  // that were passed on

  ResultsFolder folder() const { return {request.out}; }
  double Now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  TrialFolder FolderOf(size_t trial) const { return TrialFolderOf(request.out, plan.trials[trial].id); }
  const TrialRecord* RecordOf(size_t trial) const { return log->record().Find(plan.trials[trial].id); }
  AttemptPlace Place() const { return {request.out, request.program, request.torch_lib, lock->fds(), watch.get()}; }
  bool stopping() const { return report.interrupted || !report.paused.empty() || watch->lost(); }

  // States that no attempt brought about, each with its reason.
  void SetStates(const ChangedStates& trials);
  // A final state: the trial leaves the memory with the next TellDatabase, however long the batch is.
  void SetEnded(size_t trial) { ended_.push_back(trial); }
  void TellDatabase();
  void ForgetEnded();
  // The plan has more trials at its end; what another plan has run of them counts.
  void TakeInNew();
  // Nothing more is started; what runs may come to its end.
  void Pause(const std::string& why);
  // Of all trials, as the record has them.
  void FillReport();

 private:
  using Clock = std::chrono::steady_clock;

  void Forget(size_t trial);

  const Clock::time_point start_ = Clock::now();
  std::vector<size_t> ended_;  // trials that the database does not know of yet
};

}  // namespace backplane
