// Compares process state that plugins and the host share with its state before the first plugin, and restores it. Does not know
// the culprit (process_state.hpp does).
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace backplane {

// Records the current state as the one to restore.
void KeepAsItIs();
bool IsKept();  // true after KeepAsItIs

struct ProcessDifference {
  std::string what;         // "the working directory"
  std::string detail = {};  // " to /tmp"
  bool put_back = true;     // false: it could not be restored
};

// Changes nothing, so plugins may be inside calls. About 50 us.
std::vector<ProcessDifference> LookAtProcess();
// Restores and returns all differences. One thread at a time. Some system calls.
std::vector<ProcessDifference> PutProcessBack();

// The same for the calling thread's signal mask.
bool PutSignalMaskBack();  // true: it was different

}  // namespace backplane
