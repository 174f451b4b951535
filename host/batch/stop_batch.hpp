// Ends a batch from outside, as Ctrl-C at its terminal would.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace backplane {

enum class StopEnd {
  kNothingRan = 1,
  kStopped,   // nothing of ours runs in the folder any more
  kStopping,  // it was asked, but trials are still at it
};

// Asks the supervisor of OUT to end (its trials save a checkpoint) and waits until the folder is free, at most 45 s. `at_once`:
// its trials are killed, and after 10 s the supervisor itself. It is found by pid and start time, so that no other process is
// ever hit. Throws std::runtime_error if it runs on another machine or may not be signalled.
StopEnd StopBatch(const std::filesystem::path& out, bool at_once, const std::function<void(const std::string&)>& say);

}  // namespace backplane
