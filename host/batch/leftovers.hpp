// Finds processes that trials left behind. If shim and supervisor are killed together, a process outside its trial's session
// survives.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

// "BACKPLANE_TRIAL=<folder> <trial id>", for the environment of a trial and its child processes. The folder is identified by
// device and inode, which do not change when it is moved.
std::string TrialVariable(const std::filesystem::path& out, const std::string& trial_id);

// Kills processes with the variable of a trial of OUT; the caller holds OUT's lock. Returns a sentence with the ended processes
// and those that remain; empty: there were none. Spares this process and its ancestors. Throws Interrupted.
std::string EndLeftovers(const std::filesystem::path& out);

}  // namespace backplane
