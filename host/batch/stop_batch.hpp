// Ends a batch from outside, as Ctrl-C at its terminal would.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace backplane {

enum class StopEnd {
  kNothingRan = 1,
  kStopped,   // no process of the batch runs any more
  kStopping,  // it has the request, but trials still run
};

// Stops the supervisor of OUT (its trials save a checkpoint) and waits until the folder is free, at most 45 s. `at_once` kills
// its trials, and after 10 s the supervisor itself. Finds the supervisor by pid and start time, so it never hits another
// process. Throws std::runtime_error if it runs on another machine or may not be signalled.
StopEnd StopBatch(const std::filesystem::path& out, bool at_once, const std::function<void(const std::string&)>& say);

}  // namespace backplane
