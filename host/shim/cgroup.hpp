// A control group (v2) for each trial, where a part of the hierarchy is delegated to us: then the kernel itself holds the
// memory limit, counts the peak and ends everything the trial started. Groups are folders, and every function takes the folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace backplane {

// The v2 group of this process; absent where no v2 hierarchy is mounted.
std::optional<std::filesystem::path> OwnGroup();

// The group below which trials' groups can be made, memory controller enabled; absent if `own_group` is not delegated to us.
// The kernel requires that a group with delegated controllers has no process, so this process moves into a leaf first. If that
// does not help, for example because of a shell in the same group, it moves back and changes nothing.
std::optional<std::filesystem::path> DelegatedGroup(const std::filesystem::path& own_group);

// Where the trial of a shim lives: known to the engine too, should the shim die.
std::filesystem::path GroupOfShim(const std::filesystem::path& delegated, pid_t shim);

// Ends every process in the group and removes it. Harmless if it is gone.
void EndGroup(const std::filesystem::path& group);

// Ends the groups of dead shims, which remain if a shim and its supervisor are killed together.
void EndGroupsOfDeadShims(const std::filesystem::path& delegated);

class TrialGroup {
 public:
  // Null if the kernel does not allow a group.
  static std::unique_ptr<TrialGroup> Make(const std::filesystem::path& group, std::optional<uint64_t> memory_bytes,
                                          const std::vector<int>& cores);
  ~TrialGroup();  // EndGroup
  TrialGroup(const TrialGroup&) = delete;

  int procs_fd() const { return procs_fd_; }  // a process joins by writing "0"
  int kill_fd() const { return kill_fd_; }    // what "1" is written to, to end all of it; -1: the kernel has no such file
  uint64_t PeakBytes() const;                 // 0 before Linux 5.19, which lacks it
  bool OomKilled() const;

 private:
  TrialGroup(std::filesystem::path group, int procs_fd, int kill_fd)
      : group_(std::move(group)), procs_fd_(procs_fd), kill_fd_(kill_fd) {}

  std::filesystem::path group_;
  int procs_fd_ = -1, kill_fd_ = -1;
};

// Number of kills by the kernel's out-of-memory killer in this process's control group, v1 or v2; 0 if it cannot be read.
long OomKillCount();

}  // namespace backplane
