// The checkpoints of a trial (contract/checkpoint_files.hpp): saves one, finds the newest whole one, and sets damaged ones
// aside.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "contract/checkpoint_files.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {

// Holds the folders of the trial and the attempt from the start of the trial, because they may be moved while it runs. Once per
// process. [main thread, before any other]
void HoldFolders(const std::filesystem::path& attempt_dir, const std::filesystem::path& checkpoint_dir);

// A path to one of these two folders: its name or, once that leads elsewhere, its descriptor. The end of a trial is then
// written where the rest of it is. [thread-safe]
std::filesystem::path WhereHeld(const std::filesystem::path& folder);

class CheckpointFolder {
 public:
  CheckpointFolder(std::filesystem::path dir, std::string trial_id, unsigned keep = kKeptCheckpoints)
      : dir_(std::move(dir)), trial_id_(std::move(trial_id)), keep_(keep) {}

  // Writes checkpoint.bin; the older ones move on by a number, the last one goes. It is on the disk afterwards, by two syncs.
  // There is a whole checkpoint.bin at every moment; without hard links there is one in which only checkpoint.1.bin is there.
  // Throws std::runtime_error; what can be gone on from then is the one before, or this one if only the folder's sync failed.
  void Save(const Checkpoint& checkpoint);
  // The newest one that is whole and of this trial; newer ones are set aside. Absent: there is none.
  std::optional<Checkpoint> Newest();
  // The one that Newest() gave cannot be gone on from: sets it aside. Newest() then gives the one before.
  void Refuse(const std::string& why);

  std::filesystem::path file() const { return CheckpointFile(dir_, 0); }
  // A sentence for each that was set aside, once Newest() has found what to go on from.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void SetAside(const std::filesystem::path& file, const std::string& why);

  const std::filesystem::path dir_;
  const std::string trial_id_;
  const unsigned keep_;
  std::filesystem::path newest_;    // that Newest() gave
  std::vector<std::string> aside_;  // sentences that do not say yet what is gone on from
  std::vector<std::string> warnings_;
};

}  // namespace backplane
