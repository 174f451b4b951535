#include "batch/opening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/interrupt.hpp"
#include "batch/recover.hpp"
#include "contract/checkpoint_files.hpp"
#include "contract/start_source.hpp"
#include "record/attempt_json.hpp"
#include "record/budget.hpp"
#include "record/peek_header.hpp"
#include "record/results_folder.hpp"
#include "store/damage.hpp"
#include "store/out_folder.hpp"

namespace backplane {

ChangedStates TakeDamagedBack(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                              const std::vector<std::string>& names, std::vector<std::string>* sentences) {
  ChangedStates damaged;
  for (size_t i = 0; i < plan.trials.size() && InterruptScope::Count() == 0; ++i) {
    const TrialRecord* trial = record.Find(plan.trials[i].id);
    if (trial == nullptr || !IsFinished(trial->state)) continue;
    const std::vector<Damage> found = DamageOf(ResultsFolder{out}, *trial);
    for (const Damage& one : found) sentences->push_back(names[i] + " is damaged and will run again: " + SentenceOf(one));
    if (found.empty()) continue;
    // Before the event is written: with a checkpoint, the trial would resume at its end.
    SetCheckpointAside(TrialFolderOf(out, plan.trials[i].id));
    damaged.push_back({i, {TrialState::kPlanned, "damaged: " + SentenceOf(found.front()), StateReason::kDamaged}});
  }
  return damaged;
}

ChangedStates InferredInfeasible(const Plan& plan, const Schedule& schedule) {
  ChangedStates inferred;
  for (const auto& [trial, smaller] : schedule.OutOfMemoryToo())
    inferred.push_back({trial,
                        {TrialState::kInfeasible,
                         "inferred: trial " + plan.trials[smaller].id + " does not need more memory, and it did not fit",
                         StateReason::kInferred}});
  return inferred;
}

ChangedStates NeverStarting(const Plan& plan, const Schedule& schedule, const std::vector<std::string>& names) {
  ChangedStates never;
  for (const size_t trial : schedule.NeverCan()) {
    const size_t before = *plan.trials[trial].after;
    const TrialState state = schedule.state(before);  // PLANNED: the loop skips it too
    const char* const word = Word(state == TrialState::kPlanned ? TrialState::kSkipped : state);
    never.push_back(
        {trial,
         {TrialState::kSkipped, fmt::format("the stage before it, {}, is {}", names[before], word), StateReason::kLostStart}});
  }
  return never;
}

namespace {

// Absent: the trial's state fits its budget.
std::optional<StateChange> ChangeByBudget(const TrialFolder& folder, const Budget& budget, const TrialRecord& trial) {
  const bool waits = trial.state == TrialState::kPlanned && trial.reason == StateReason::kExtended;
  if (trial.attempts.empty() || (trial.state != TrialState::kCompleted && !waits)) return std::nullopt;
  const bool extends = Extends(budget, ReadResult(folder.attempt(trial.attempts.back().number)));
  if (extends == waits) return std::nullopt;
  if (waits) return StateChange{TrialState::kCompleted, "its budget is used up", StateReason::kWithin};
  const char* const from =
      HasCheckpoint(folder.checkpoint()) ? "from its last checkpoint" : "from scratch, because it has no checkpoint";
  return StateChange{TrialState::kPlanned, fmt::format("its budget has grown; it resumes {}", from), StateReason::kExtended};
}

// Throws std::runtime_error if the trial cannot resume at its end, because that deleted the files of its learner.
void CheckLearnerFiles(const TrialFolder& folder) {
  const std::filesystem::path dir = folder.checkpoint();
  const std::optional<CheckpointHeader> header = PeekHeader(CheckpointFile(dir, 0));
  if (!header || !header->HasPart(kFilesPart) || !LearnerFilesIn(dir).empty()) return;
  throw std::runtime_error(fmt::format(
      "budget: expected at most the budget of the completed trial {}, got more: the trial cannot resume, because its learner's "
      "files were deleted at its end\nhint: from the first run of an experiment on, --set checkpoint.keep_replay=true keeps "
      "these files",
      folder.folder.filename().string()));
}

}  // namespace

std::string FollowBudgets(const std::filesystem::path& out, const Plan& plan, const BatchRecord& record,
                          ChangedStates* changes) {
  std::set<size_t> changed;
  for (const auto& [trial, change] : *changes) changed.insert(trial);
  size_t extended = 0, from_scratch = 0;
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    const std::optional<Budget>& budget = plan.points[plan.trials[i].point].budget;
    const TrialRecord* known = budget && !changed.contains(i) ? record.Find(plan.trials[i].id) : nullptr;
    const TrialFolder folder = TrialFolderOf(out, plan.trials[i].id);
    const auto change = known ? ChangeByBudget(folder, *budget, *known) : std::nullopt;
    if (!change) continue;
    changes->push_back({i, *change});
    if (change->state != TrialState::kPlanned) continue;
    CheckLearnerFiles(folder);
    ++extended;
    from_scratch += HasCheckpoint(folder.checkpoint()) ? 0 : 1;
  }
  if (extended == 0) return "";
  return fmt::format("the budget has grown: {} finished {} resumed{}", extended, extended == 1 ? "trial is" : "trials are",
                     from_scratch > 0 ? fmt::format(", {} of them from scratch, without a checkpoint", from_scratch) : "");
}

bool RunOnly::Means(const TrialRecord& trial) const {
  if (pruned) return MeantByOnlyPruned(trial);
  return failed ? MeantByOnlyFailed(trial, *failed) : MeantByOnlyDamaged(trial);
}

ChangedStates OpenSchedule(const Plan& plan, const BatchRecord& record, const RunOnly& only, const FailurePolicy& policy,
                           const std::vector<std::string>& names, ChangedStates earlier, Schedule* schedule) {
  ChangedStates changes = std::move(earlier);
  std::map<size_t, const StateChange*> changed;
  for (const auto& [trial, change] : changes) changed[trial] = &change;
  ChangedStates can_start;
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    const TrialRecord* known = record.Find(plan.trials[i].id);
    const bool means_stage = only.MeansStage(plan.points[plan.trials[i].point].stage);
    if (known == nullptr) {
      if (only.any() || !means_stage) schedule->Leave(i);
      continue;
    }
    TrialRecord now;
    if (const auto change = changed.find(i); change != changed.end()) {
      now = *known;
      now.Change(*change->second);
    }
    const TrialRecord& trial = now.id.empty() ? *known : now;
    schedule->Set(i, trial.state);
    if (!means_stage) {
      if (trial.state == TrialState::kPlanned) schedule->Leave(i);  // and those that start from it
      continue;
    }
    // Its earlier stage may have completed since then.
    const bool again = trial.reason == StateReason::kLostStart && !schedule->LostItsStart(i);
    if (!only.any()) {
      if (again) can_start.push_back({i, {TrialState::kPlanned, "the stage before it runs again", StateReason::kStartAgain}});
      if (policy.MayPassByNow(trial)) {
        can_start.push_back({i, {TrialState::kPlanned, "tried again: " + trial.why, StateReason::kTriedAgain}});
        schedule->Set(i, TrialState::kPlanned);  // now, because later stages read it
      }
      continue;
    }
    // Until the trial starts it stays failed in the events, so that the same command selects it again after an early end.
    if (again || only.Means(trial)) {
      schedule->Set(i, TrialState::kPlanned);
    } else {
      schedule->Leave(i);
    }
  }
  const auto add = [&](const ChangedStates& more) {
    for (const auto& [trial, change] : more) schedule->Set(trial, change.state);
    changes.insert(changes.end(), more.begin(), more.end());
  };
  add(can_start);
  add(InferredInfeasible(plan, *schedule));
  add(NeverStarting(plan, *schedule, names));
  return changes;
}

void KeepStarts(const Plan& plan, const std::filesystem::path& out) {
  std::set<size_t> points;
  for (const PlannedTrial& trial : plan.trials) {
    const auto start = trial.files.find(kStartKey);
    if (start != trial.files.end() && !trial.after && points.insert(trial.point).second)
      KeepStart(out, *plan.ExperimentOf(trial.point).start_from, start->second);
  }
}

std::vector<size_t> Untried(const std::filesystem::path& out, const Plan& plan, const Schedule& schedule,
                            const BatchRecord& record) {
  std::set<size_t> tried;
  for (const PlannedTrial& trial : plan.trials) {
    const TrialRecord* known = record.Find(trial.id);
    // The record no longer has trials that this session skipped, but they may have a checkpoint.
    if ((known != nullptr && known->state == TrialState::kCompleted) ||
        HasCheckpoint(TrialFolderOf(out, trial.id).checkpoint()))
      tried.insert(trial.point);
  }
  std::vector<size_t> untried;
  for (size_t i = 0; i < plan.trials.size(); ++i)
    if (schedule.Waits(i) && !tried.contains(plan.trials[i].point)) untried.push_back(i);
  return untried;
}

std::string SayWhatIsNotInThePlan(const Plan& plan, const BatchRecord& record) {
  std::set<std::string> planned;
  for (const PlannedTrial& trial : plan.trials) planned.insert(trial.id);
  const auto n = std::count_if(record.trials.begin(), record.trials.end(),
                               [&](const auto& trial) { return !planned.contains(trial.first); });
  if (n == 0) return "";
  // Trials with fresh seeds join the plan only at the end of the search.
  if (plan.search)
    return fmt::format(
        "this folder contains {} {} outside the search, of other plans or with fresh seeds of a former best point; only "
        "results.sqlite shows them",
        n, n == 1 ? "trial" : "trials");
  return "this folder contains " + std::to_string(n) + (n == 1 ? " trial" : " trials") +
         " of other plans; only results.sqlite shows them";
}

}  // namespace backplane
