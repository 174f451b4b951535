// Brings a results folder that an earlier session left into a state from which this one can resume. The caller holds the
// folder's lock, so no process still runs an attempt without an end.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "batch/failure_policy.hpp"
#include "batch/schedule.hpp"
#include "record/plan_file.hpp"
#include "store/event_log.hpp"
#include "store/out_folder.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Whether a trial has ever begun there, or was settled without. What only refused starts have left is nothing to keep.
bool AnythingRan(const std::filesystem::path& out);

// Every attempt that began and has no end gets one: what its result.json says, or "stale". Trials that left a complete result
// without any event are taken over too. Throws std::runtime_error.
void EndOpenAttempts(const std::filesystem::path& out, EventLog* log, FailurePolicy* failure_policy);

// Whether --only-failed of these classes (none: all) means this trial: it failed, or it was under way again after it had.
bool MeantByOnlyFailed(const TrialRecord& trial, const std::set<std::string>& classes);

// Whether --only-pruned means this trial: a search had it stopped, or it was under way again after that.
bool MeantByOnlyPruned(const TrialRecord& trial);

// Whether --only-damaged means this trial, which is not finished (any more): it was, and its files were found damaged.
bool MeantByOnlyDamaged(const TrialRecord& trial);

// Renames its checkpoint, if it has one, so that the next attempt begins anew; on the disk when this returns. Throws
// std::runtime_error.
void SetCheckpointAside(const TrialFolder& folder);

// A file whose content changed under points that have finished trials.
struct ChangedFile {
  std::string key;                  // "learner.plugin"
  std::string before, now;          // SHA-256; empty: it was not recorded, or it is gone
  std::vector<std::string> trials;  // finished with the old content, which the new plan would run again
  size_t planned = 0;               // index of the one that takes the place of the first
};
std::vector<ChangedFile> ChangedFiles(const std::vector<PlanLine>& before, const Plan& now, const BatchRecord& record);
// What a person reads before anything starts: which file, how many results it concerns, what to type.
std::string FormatChanges(const std::vector<ChangedFile>& changes);

// The same of points whose trial was stopped and could go on from a checkpoint, were its files those of then. Nothing of it is
// lost, and nothing is refused: with the new content there is a new trial beside it. `trials`: those that were stopped.
std::vector<ChangedFile> ChangedUnderStopped(const std::filesystem::path& out, const std::vector<PlanLine>& before,
                                             const Plan& now, const BatchRecord& record);
// The plugin's file at the change's key, as the plan finds it now; empty: it is no plugin's, and the key says which.
std::string FileAt(const Plan& plan, const ChangedFile& change);
// One sentence of changes, which are not none. `file_of`: as FileAt.
std::string SayBegunAnew(const std::filesystem::path& out, const std::vector<ChangedFile>& changes,
                         const std::function<std::string(const ChangedFile&)>& file_of);

}  // namespace backplane
