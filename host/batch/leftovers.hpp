// Processes that trials left behind. If shim and supervisor are killed together, a process that left its trial's session
// survives.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// "BACKPLANE_TRIAL=<folder> <trial id>", for the environment of a trial and of all that it starts. The folder is named by
// device and inode, which stay when it is moved.
std::string TrialVariable(const std::filesystem::path& out, const std::string& trial_id);

// For the holder of OUT's lock: kills what still carries the variable of a trial of OUT, and returns a sentence with the ended
// processes and those that remain; empty: there were none. This process and those above it are spared. Throws Interrupted.
std::string EndLeftovers(const std::filesystem::path& out);

}  // namespace backplane
