// Selects the trials of a session, based on the results of earlier sessions.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "batch/failure_policy.hpp"
#include "batch/schedule.hpp"
#include "record/batch_record.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Indexes of trials in the plan, each with the trial's new state.
using ChangedStates = std::vector<std::pair<size_t, StateChange>>;

// Finds finished trials whose files are damaged and sets their checkpoints aside, because these may be damaged too. The trials
// run again from the beginning. Adds a sentence for each damaged file to `sentences`.
ChangedStates TakeDamagedBack(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                              const std::vector<std::string>& names, std::vector<std::string>* sentences);

// Adds finished trials whose budget has grown, which resume, and reverses this for trials that have not yet resumed if the
// budget has shrunk again. Trials in `changes` stay as they are there. Returns a sentence; empty if no trial is extended.
// Throws std::runtime_error if a trial lacks files of its learner that it needs to resume.
std::string FollowBudgets(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                          ChangedStates* changes);

// Planned trials that need too much memory, and those whose earlier stage did not complete.
ChangedStates InferredInfeasible(const Plan& plan, const Schedule& schedule);
ChangedStates NeverStarting(const Plan& plan, const Schedule& schedule, const std::vector<std::string>& names);

// Selects trials of earlier sessions to run again, and nothing else. Empty: everything that has not finished. A stage limits
// either to its own trials.
struct RunOnly {
  std::optional<std::set<std::string>> failed;  // failed with one of these outcomes (empty set: any)
  bool pruned = false;                          // stopped by a search
  bool damaged = false;                         // with damaged files
  std::string stage;                            // empty: all stages

  bool any() const { return failed || pruned || damaged; }
  bool Means(const TrialRecord& trial) const;
  bool MeansStage(const std::string& of_trial) const { return stage.empty() || stage == of_trial; }
};

// Puts the trials that a session has to run into `schedule`, which must be new. Writes no files, so `run --dry-run` calls it as
// well. `earlier` are the changes by TakeDamagedBack and FollowBudgets. Returns these states, followed by those that result
// from them and from `record`, in the order in which they must be recorded before the first trial starts.
ChangedStates OpenSchedule(const Plan& plan, const BatchRecord& record, const RunOnly& only, const FailurePolicy& policy,
                           const std::vector<std::string>& names, ChangedStates earlier, Schedule* schedule);

// Copies each policy that a trial starts from into `out`, so that the batch does not need the sources any more. Throws
// std::runtime_error.
void KeepStarts(const Plan& plan, const std::filesystem::path& out);

// Scheduled trials of points without any result or checkpoint.
std::vector<size_t> Untried(const std::filesystem::path& out, const Plan& plan, const Schedule& schedule,
                            const BatchRecord& record);

// A sentence about trials in the folder that are not in the plan. Empty if there are none.
std::string SayWhatIsNotInThePlan(const Plan& plan, const BatchRecord& record);

}  // namespace backplane
