// State of the process that plugins share with each other and with the host: what of it is not as it was before the first of
// them, and how it is put back. Who did it is not known here (process_state.hpp).
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace backplane {

// Takes what is there now as what has to stay.
void KeepAsItIs();
bool IsKept();  // there is something to compare with

struct ProcessDifference {
  std::string what;         // "the working directory"
  std::string detail = {};  // " to /tmp"
  bool put_back = true;     // false: it could not be
};

// Changes nothing: whoever is inside a call meanwhile goes on with what there is. About 50 us.
std::vector<ProcessDifference> LookAtProcess();
// Puts back what it finds. One thread at a time. Some system calls.
std::vector<ProcessDifference> PutProcessBack();

// The same of the signals that the calling thread takes.
bool PutSignalMaskBack();  // true: it was another

}  // namespace backplane
