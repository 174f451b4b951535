// The results folder OUT: its layout, its lock, and the number of the next attempt.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/held_folder.hpp"
#include "base/process.hpp"
#include "record/results_folder.hpp"
#include "record/results_lock.hpp"

namespace backplane {

enum class LockFor {
  kBatch = 1,  // writes the process into the file for FindSupervisor
  kUpkeep,     // leaves the file empty: no batch runs, so `stop` has no target
};

// Held by one process at a time: the file `lock`, which names the supervisor (base/process.hpp, as JSON), and the folder
// itself, because a file can be deleted and created again. The shims of the trials inherit the descriptors, so trials that
// outlive a killed supervisor still keep the folder. Two processes never write the same checkpoint.
class OutLock {
 public:
  using Say = std::function<void(const std::string& sentence)>;

  // Waits up to 40 s for trials of a dead supervisor, which end on their own; `say` then gets one sentence. Throws
  // std::runtime_error with the holder if another supervisor is at work, even if its lock file was removed or only a trial's
  // folder is still locked. Throws it too if a folder cannot be opened. Throws Interrupted if a stop comes while it waits.
  explicit OutLock(const std::filesystem::path& out, const Say& say = {}, LockFor what_for = LockFor::kBatch);
  ~OutLock();
  OutLock(const OutLock&) = delete;

  int fd() const { return fd_; }  // of the file
  std::vector<int> fds() const { return {fd_, folder_fd_}; }

 private:
  int fd_ = -1, folder_fd_ = -1;
};

// Returns the supervisor that works in OUT now, or waits there for trials of a dead one. It has this lock file open, unlike the
// process that a copied folder's file names. A supervisor on a different machine counts while the lock is held.
std::optional<ProcessId> FindSupervisor(const std::filesystem::path& out);

// Locks the folder of a trial for the duration of its run. Throws std::runtime_error if another process holds the lock, or if
// the folder could not be opened.
void LockTrial(const HeldFolder& trial);

// The path is absolute, because processes in other folders receive it.
TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id);

// False: there is nothing to move. Throws std::runtime_error if OUT contains files but no results.
bool HasOldResults(const std::filesystem::path& out);

// Renames OUT to OUT.1 (or the next free number) and returns the new name; absent if there was nothing to move. Throws
// std::runtime_error if OUT is in use, or contains files but no results.
std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out);

}  // namespace backplane
