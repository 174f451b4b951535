// Makes a results folder of an earlier session resumable. The caller holds the folder's lock, so no attempt without an end
// still runs.
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

// True if a trial has ever started or was settled without a start, or a search has made suggestions. Starts that were only
// rejected leave nothing to keep.
bool AnythingRan(const std::filesystem::path& out);

// Records an end for every open attempt: the one in its result.json, or "stale". Adopts trials that left a complete result
// without an event. Throws std::runtime_error.
void EndOpenAttempts(const std::filesystem::path& out, EventLog* log, FailurePolicy* failure_policy);

// True if --only-failed with these classes (none: all) selects this trial: it failed, or it was running again after a failure.
bool MeantByOnlyFailed(const TrialRecord& trial, const std::set<std::string>& classes);

// True if --only-pruned selects this trial: a search pruned it, or it was running again after that.
bool MeantByOnlyPruned(const TrialRecord& trial);

// True if --only-damaged selects this unfinished trial: it had finished, and its files were damaged.
bool MeantByOnlyDamaged(const TrialRecord& trial);

// Renames the trial's checkpoint, if any, so that the next attempt starts from scratch. Synced to disk on return. Throws
// std::runtime_error.
void SetCheckpointAside(const TrialFolder& folder);

// A file whose content changed under points that have finished trials, or the text of a command's option.
struct ChangedFile {
  std::string key;                       // "learner.plugin"
  std::string before = {}, now = {};     // SHA-256; empty: it was not recorded, or the file is gone
  std::vector<std::string> trials = {};  // finished with the old content; the new plan would run them again
  size_t planned = 0;                    // index of the first one's successor
  bool is_text = false;                  // `before` is a value, `now` its text in the file
};
std::vector<ChangedFile> ChangedFiles(const std::vector<PlanLine>& before, const Plan& now, const BatchRecord& record);
// A message before the start: the files, the number of affected results, and the command to type.
std::string FormatChanges(const std::vector<ChangedFile>& changes);

// The same for stopped trials that could resume from a checkpoint with the old content. No result is lost and no error follows:
// the plan has new trials for the new content. `trials`: the stopped ones.
std::vector<ChangedFile> ChangedUnderStopped(const std::filesystem::path& out, const std::vector<PlanLine>& before,
                                             const Plan& now, const BatchRecord& record);
// The plan's current plugin file at the change's key; empty: the key belongs to no plugin but names a file.
std::string FileAt(const Plan& plan, const ChangedFile& change);
// A sentence about a non-empty list of changes. `file_of`: see FileAt.
std::string SayBegunAnew(const std::filesystem::path& out, const std::vector<ChangedFile>& changes,
                         const std::function<std::string(const ChangedFile&)>& file_of);

}  // namespace backplane
