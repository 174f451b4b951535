// A folder that is kept by a descriptor, so that it is found again after somebody has moved it.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

class HeldFolder {
 public:
  // Where it is not there, or cannot be opened, nothing is held: fd() is -1 and the name is all there is.
  explicit HeldFolder(const std::filesystem::path& folder);
  ~HeldFolder();
  HeldFolder(const HeldFolder&) = delete;

  // For callers that are lost without it. Throws std::runtime_error with the reason if nothing is held.
  void Require() const;

  int fd() const { return fd_; }
  const std::filesystem::path& name() const { return name_; }
  // The name still leads to this very folder, through whatever links. True where nothing is held.
  bool InPlace() const;
  bool Deleted() const;
  // The name while it leads here, afterwards a way through the descriptor, good in this process: what is opened below it is in
  // this folder, and in no other that has taken the name.
  std::filesystem::path Now() const;
  // Where it lies now, for people. Empty: it was deleted, or this process cannot see it.
  std::filesystem::path Where() const;

 private:
  std::filesystem::path name_;  // absolute
  int fd_ = -1, error_ = 0;
};

// The descriptor is of what lies at `file`.
bool IsAt(int fd, const std::filesystem::path& file);

}  // namespace backplane
