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

// Opens the folders of the trial and the attempt at the start of the trial, because they may be moved while it runs. Call once
// per process. [main thread, before any other]
void HoldFolders(const std::filesystem::path& attempt_dir, const std::filesystem::path& checkpoint_dir);

// A path to one of these two folders: its name or, once that leads elsewhere, its descriptor. The end of a trial is thus
// written next to its other files. [thread-safe]
std::filesystem::path WhereHeld(const std::filesystem::path& folder);

// Deletes the files of the trial's learner (ext/file.h) in the folder of its checkpoints.
void RemoveLearnerFiles(const std::filesystem::path& dir);

class CheckpointFolder {
 public:
  CheckpointFolder(std::filesystem::path dir, std::string trial_id, unsigned keep = kKeptCheckpoints)
      : dir_(std::move(dir)), trial_id_(std::move(trial_id)), keep_(keep) {}

  // Writes checkpoint.bin; older ones move up by a number, and the oldest is removed. Two syncs bring it to the disk. A whole
  // checkpoint.bin exists at every moment; without hard links there is a moment with only checkpoint.1.bin. `is_best`: the file
  // gets the name best.bin first, so best.bin is never older than the best in checkpoint.bin. Throws std::runtime_error; the
  // trial can then resume from the previous one, or from this one if only the sync of the folder failed. False: it has replaced
  // checkpoint.bin, and no older one has moved.
  bool Save(const Checkpoint& checkpoint, bool is_best = false);
  // Writes best.bin for a state from which the trial does not resume.
  void SaveBest(const Checkpoint& checkpoint);
  // The newest whole one of this trial; newer ones are set aside. Absent: there is none. It is best.bin if a kill came between
  // the two names of a file.
  std::optional<Checkpoint> Newest();
  // The one before the result of Newest(); absent: there is none that is whole.
  std::optional<Checkpoint> BeforeNewest() const;
  // The score in best.bin, as of the last Newest(); absent: there is no whole best.bin.
  const std::optional<BestScore>& best() const { return best_; }
  // Sets aside the result of Newest(), because the trial cannot resume from it. Newest() then returns the previous one.
  void Refuse(const std::string& why);

  std::filesystem::path file() const { return CheckpointFile(dir_, 0); }
  // A sentence for each file set aside, after Newest() has found a usable one.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  bool IsReplacedBy(const CheckpointHeader& next) const;
  void MoveUp(const std::filesystem::path& dir);
  std::optional<Checkpoint> ReadOrSetAside(const std::filesystem::path& file);
  void SetAside(const std::filesystem::path& file, const std::string& why);

  const std::filesystem::path dir_;
  const std::string trial_id_;
  const unsigned keep_;
  std::filesystem::path newest_;    // the last result of Newest()
  std::filesystem::path before_;    // the file of BeforeNewest()
  CheckpointHeader newest_header_;  // of checkpoint.bin, without its parts; as new if there is none
  std::optional<BestScore> best_;
  std::vector<std::string> aside_;  // sentences that do not name the checkpoint used instead yet
  std::vector<std::string> warnings_;
};

}  // namespace backplane
