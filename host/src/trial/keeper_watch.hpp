// What ties a trial to its keeper: when that is gone without a word, killed together with the supervisor, nobody else is left
// to end the trial and what it has started.
#pragma once

#include <string>

namespace backplane {

// Descriptors that a keeper hands to its trial; -1: none.
struct KeeperLink {
  int alive_fd = -1;  // a pipe that nobody writes to; only the keeper holds its other end
  int kill_fd = -1;   // cgroup.kill of the trial's own group
  int lock_fd = -1;   // locks the trial's folder
};

// "BACKPLANE_KEEPER=5 -1 6", for the trial's environment.
std::string ToVariable(const KeeperLink& link);

// Takes the link from the environment, and keeps it from what this process starts. From now on the end of the keeper ends,
// within a second and by SIGKILL, this process and what it has started: all of its control group or, without one, what is in
// its session or below it. Nothing happens where no keeper has started this process. [main thread, before any other]
void WatchKeeper();

}  // namespace backplane
