// The results folder OUT: where everything lies, who may write, and which attempt comes next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

// Held by one supervisor at a time. The descriptor is passed on to the trial, so a trial that outlives a killed supervisor
// still keeps the folder: two processes never write the same checkpoint.
class OutLock {
 public:
  // Throws std::runtime_error with a sentence that names the holder.
  explicit OutLock(const std::filesystem::path& out);
  ~OutLock();
  OutLock(const OutLock&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

struct TrialFolder {
  std::filesystem::path folder;  // OUT/trials/<id>

  std::filesystem::path trial_json() const { return folder / "trial.json"; }
  std::filesystem::path checkpoint() const { return folder / "checkpoint"; }
  std::filesystem::path attempt(unsigned number) const { return folder / ("attempt-" + std::to_string(number)); }

  unsigned LastAttempt() const;  // 0: none
  bool HasCheckpoint() const;
};

TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id);

// Renames OUT to OUT.1 (or the next free number) and returns the new name; absent if there was nothing to move.
std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out);

}  // namespace backplane
