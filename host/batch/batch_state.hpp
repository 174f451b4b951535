// Shared state of a running batch: the plan, its schedule, and the records in the results folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/attempt.hpp"
#include "batch/batch.hpp"
#include "batch/folder_watch.hpp"
#include "batch/opening.hpp"
#include "batch/schedule.hpp"
#include "log/log.hpp"
#include "screen/batch_display.hpp"
#include "store/database.hpp"
#include "store/event_log.hpp"
#include "store/out_folder.hpp"

namespace backplane {

// Not thread-safe. `request` must outlive the state. Functions that write files throw std::runtime_error.
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
  int interrupts = 0;  // already handled

  ResultsFolder folder() const { return {request.out}; }
  double Now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  TrialFolder FolderOf(size_t trial) const { return TrialFolderOf(request.out, plan.trials[trial].id); }
  const TrialRecord* RecordOf(size_t trial) const { return log->record().Find(plan.trials[trial].id); }
  AttemptPlace Place() const { return {request.out, request.program, request.torch_lib, lock->fds(), watch.get()}; }
  bool stopping() const { return report.interrupted || !report.paused.empty() || watch->lost(); }

  // Records new states with their reasons, if no attempt caused them.
  void SetStates(const ChangedStates& trials);
  // Marks a trial as final. The next UpdateDatabase frees its record, so memory does not grow with the length of a batch.
  void SetEnded(size_t trial) { ended_.push_back(trial); }
  void UpdateDatabase();
  void ForgetEnded();
  // Adds new trials at the end of the plan. Results of an earlier plan count.
  void TakeInNew();
  // Starts no more trials; running ones finish.
  void Pause(PauseReason reason, const std::string& why);
  // Copies the state of all trials from the record into the report.
  void FillReport();

 private:
  using Clock = std::chrono::steady_clock;

  void Forget(size_t trial);

  const Clock::time_point start_ = Clock::now();
  std::vector<size_t> ended_;  // final, but not in the database yet
};

}  // namespace backplane
