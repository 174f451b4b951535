// What a case is doing, in memory that outlives its process: whoever looks at a crash or a hang reads it there.
#pragma once

#include <string>

namespace backplane {

struct Doing {
  char what[512] = {};   // "step of rows [0, 6)"
  char fault[512] = {};  // where a write went that no plugin may make; empty: none
  bool leaving = false;  // by exit(kLeft): another code is not the case's own
};

// Memory that a child process shares with this one; the one the functions below write to from now on.
Doing* ShareDoing();
// Forgets what was done before.
void BeginDoing();
void NowDoing(const std::string& what);
std::string LastDoing();
void NowLeaving();

}  // namespace backplane
