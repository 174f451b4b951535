// What an earlier session left in the results folder, brought to where this one can go on. For the holder of the folder's lock:
// nobody else is at it then, so an attempt without an end has none any more.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "record/plan_file.hpp"
#include "store/event_log.hpp"
#include "supervise/failure_policy.hpp"
#include "supervise/layout.hpp"
#include "supervise/schedule.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Every attempt that began and has no end gets one: what its result.json says, or "stale". Trials that left a complete result
// without any event are taken over too. Throws std::runtime_error.
void EndOpenAttempts(const std::filesystem::path& out, EventLog* log, FailurePolicy* failure_policy);

// Whether --only-failed of these classes (none: all) means this trial: it failed, or it was under way again after it had.
bool MeantByOnlyFailed(const TrialRecord& trial, const std::set<std::string>& classes);

// Whether --only-damaged means this trial, which is not finished (any more): it was, and its files were found damaged.
bool MeantByOnlyDamaged(const TrialRecord& trial);

// Renames its checkpoint, if it has one, so that the next attempt begins anew; on the disk when this returns. Throws
// std::runtime_error.
void SetCheckpointAside(const TrialFolder& folder);

// A file whose content changed under points that have finished trials.
struct ChangedFile {
  std::string key;                  // "learner.plugin"
  std::string before, now;          // SHA-256
  std::vector<std::string> trials;  // finished with the old content, which the new plan would run again
};
std::vector<ChangedFile> ChangedFiles(const std::vector<PlanLine>& before, const Plan& now, const BatchRecord& record);
// What a person reads before anything starts: which file, how many results it concerns, what to type.
std::string FormatChanges(const std::vector<ChangedFile>& changes);

}  // namespace backplane
