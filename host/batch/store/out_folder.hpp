// The results folder OUT: where everything lies, who may write, and which attempt comes next.
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
  kBatch = 1,  // the file says which process it is: FindSupervisor finds it
  kUpkeep,     // the file stays empty: no batch runs, and `stop` has nobody to signal
};

// Held by one process at a time: the file `lock`, which names the supervisor (base/process.hpp, as JSON), and the folder
// itself, because a file can be deleted and created again. The descriptors are passed on to the shims of the trials, so trials
// that outlive a killed supervisor still keep the folder: two processes never write the same checkpoint.
class OutLock {
 public:
  using Say = std::function<void(const std::string& sentence)>;

  // Waits up to 40 s for trials whose supervisor is dead, which end by themselves; `say` then gets one sentence. Throws
  // std::runtime_error with a sentence that names the holder if another supervisor is at work, also where its lock file was
  // removed, and where only the folder of a trial is still locked; and if a folder cannot be opened. Throws Interrupted if a
  // stop comes while it waits.
  explicit OutLock(const std::filesystem::path& out, const Say& say = {}, LockFor what_for = LockFor::kBatch);
  ~OutLock();
  OutLock(const OutLock&) = delete;

  int fd() const { return fd_; }  // of the file
  std::vector<int> fds() const { return {fd_, folder_fd_}; }

 private:
  int fd_ = -1, folder_fd_ = -1;
};

// Returns the supervisor that works in OUT now, or waits there for trials of a dead one. It has this lock file open, unlike a
// process that the file of a copied folder names. A supervisor on a different machine counts while the lock is held.
std::optional<ProcessId> FindSupervisor(const std::filesystem::path& out);

// Locks the folder of a trial, as whoever runs it does as long as it runs. Throws std::runtime_error if another process has, or
// if the folder could not be opened.
void LockTrial(const HeldFolder& trial);

// Its path is absolute, as it is told to processes in other folders.
TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id);

// False: nothing stands there that would have to move. Throws std::runtime_error if OUT holds something and no results.
bool HasOldResults(const std::filesystem::path& out);

// Renames OUT to OUT.1 (or the next free number) and returns the new name; absent if there was nothing to move. Throws
// std::runtime_error if OUT is in use, or holds something and no results.
std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out);

}  // namespace backplane
