// What earlier sessions left of a plan's trials, and what follows from it before any of them runs.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/batch_record.hpp"
#include "supervise/failure_policy.hpp"
#include "supervise/schedule.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Trials by place in the plan, each with its new state.
using ChangedStates = std::vector<std::pair<size_t, StateChange>>;

// Finished trials whose files are not what they were: these are still to do, from their beginning, as what they learned may
// have come to harm too, and their checkpoints are set aside. `sentences` gets one for each damage. Those that start from such
// a trial and have not run yet wait for it.
ChangedStates TakeDamagedBack(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                              const std::vector<std::string>& names, std::vector<std::string>* sentences);

// Planned trials that can not fit into memory, and those that can not start from the one before them.
ChangedStates InferredInfeasible(const Plan& plan, const Schedule& schedule);
ChangedStates NeverStarting(const Plan& plan, const Schedule& schedule, const std::vector<std::string>& names);

// Which trials of earlier sessions a command means; without any of these all that did not finish.
struct RunOnly {
  std::optional<std::set<std::string>> failed;  // those that failed, of these classes (none named: of all)
  bool pruned = false;                          // those that a search stopped
  bool damaged = false;                         // those whose files are damaged

  bool any() const { return failed || pruned || damaged; }
  bool Means(const TrialRecord& trial) const;
};

// What a session has to run: sets it in `schedule`, which is new. Writes nothing, so `run --dry-run` asks it too. `damaged` are
// the states of TakeDamagedBack; the states that follow from them and from `record` are returned behind these, to be recorded
// in this order before the first trial starts.
ChangedStates OpenSchedule(const Plan& plan, const BatchRecord& record, const RunOnly& only, const FailurePolicy& policy,
                           const std::vector<std::string>& names, ChangedStates damaged, Schedule* schedule);

// What is to run of points of which nothing has run yet.
std::vector<size_t> Untried(const std::filesystem::path& out, const Plan& plan, const Schedule& schedule,
                            const BatchRecord& record);

// Of trials in the folder that the plan does not have; empty: there are none.
std::string SayWhatIsNotInThePlan(const Plan& plan, const BatchRecord& record);

}  // namespace backplane
