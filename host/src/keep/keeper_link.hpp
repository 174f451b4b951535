// What a keeper hands to its trial, through a variable of the environment.
#pragma once

#include <string>

namespace backplane {

inline constexpr char kKeeperVariable[] = "BACKPLANE_KEEPER";

// Descriptors; -1: none.
struct KeeperLink {
  int alive_fd = -1;  // a pipe that nobody writes to; only the keeper holds its other end
  int kill_fd = -1;   // cgroup.kill of the trial's own group
  int lock_fd = -1;   // locks the trial's folder
};

// "BACKPLANE_KEEPER=5 -1 6", for the trial's environment.
std::string ToVariable(const KeeperLink& link);

}  // namespace backplane
