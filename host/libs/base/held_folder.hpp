// Holds a folder by descriptor, to find it again after it was moved.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

class HeldFolder {
 public:
  // If the folder is missing or cannot be opened, fd() is -1 and only the name is known.
  explicit HeldFolder(const std::filesystem::path& folder);
  ~HeldFolder();
  HeldFolder(const HeldFolder&) = delete;

  // Throws std::runtime_error with the reason if the folder could not be opened.
  void Require() const;

  int fd() const { return fd_; }
  const std::filesystem::path& name() const { return name_; }
  // True if the name still leads to this folder, through any links, or if no folder is held.
  bool InPlace() const;
  bool Deleted() const;
  // The name while it leads here, later a path through the descriptor that is valid in this process. Files opened below it are
  // in this folder, not in another one that has replaced it.
  std::filesystem::path Now() const;
  // Its present location for messages. Empty if it was deleted or is invisible to this process.
  std::filesystem::path Where() const;

 private:
  std::filesystem::path name_;  // absolute
  int fd_ = -1, error_ = 0;
};

// True if the descriptor refers to the file at `file`.
bool IsAt(int fd, const std::filesystem::path& file);

}  // namespace backplane
