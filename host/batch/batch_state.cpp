#include "batch/batch_state.hpp"

#include "record/trial_names.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

// The record does not count lost nodes, so their number stays.
void Report(const TrialRecord& record, BatchReport::Trial* trial) {
  *trial = {record.state, record.outcome, record.why, static_cast<unsigned>(record.attempts.size()), trial->lost_nodes};
}

DisplayedBatch Displayed(const BatchRequest& request) {
  const Plan& plan = request.plan;
  return {request.out,   plan.base.experiment,   plan.swept || plan.trials.size() > 1,
          request.quiet, request.report_program, request.typed_program};
}

}  // namespace

BatchState::BatchState(BatchRequest* batch)
    : request(*batch),
      plan(batch->plan),
      only{batch->only_failed, batch->only_pruned, batch->only_damaged, batch->only_stage},
      schedule(plan),
      display(Displayed(*batch)),
      names(DisplayNames(plan)) {
  report.trials.resize(plan.trials.size());
}

void BatchState::SetStates(const ChangedStates& trials) {
  if (trials.empty()) return;
  std::vector<EventLog::Entry> entries;
  for (const auto& [trial, change] : trials) entries.push_back({change, plan.trials[trial].id});
  log->Append(entries);
  for (const auto& [trial, change] : trials) {
    // A planned trial that this session excludes must not wait again.
    if (schedule.state(trial) != change.state) schedule.Set(trial, change.state);
    if (IsFinal(change.state)) SetEnded(trial);
  }
  UpdateDatabase();
}

void BatchState::UpdateDatabase() {
  database->Update(log->record());
  for (const size_t trial : ended_) Forget(trial);
  ended_.clear();
}

void BatchState::Forget(size_t trial) {
  const TrialRecord* record = RecordOf(trial);
  if (record == nullptr) return;
  Report(*record, &report.trials[trial]);
  log->Forget(plan.trials[trial].id);
}

void BatchState::ForgetEnded() {
  for (size_t i = 0; i < plan.trials.size(); ++i)
    if (IsFinal(schedule.state(i))) Forget(i);
}

void BatchState::TakeInNew() {
  const size_t before = report.trials.size();
  schedule.Grow();
  report.trials.resize(plan.trials.size());
  names = DisplayNames(plan);
  for (size_t i = before; i < plan.trials.size(); ++i)
    if (const TrialRecord* record = RecordOf(i)) schedule.Set(i, record->state);
}

void BatchState::Pause(PauseReason reason, const std::string& why) {
  if (stopping()) return;
  report.paused = why;
  report.pause_reason = reason;
  log->Append(SweepPaused{why});
  display.Note((reason == PauseReason::kObjective ? "stopping: " : "pausing: ") + why +
               (reason == PauseReason::kDisk ? "; running trials save a checkpoint and end" : "; running trials finish"));
}

void BatchState::FillReport() {
  for (size_t i = 0; i < plan.trials.size(); ++i)
    if (const TrialRecord* record = RecordOf(i)) Report(*record, &report.trials[i]);
}

}  // namespace backplane
