// Records of a trial process that a plugin ends: the plugin's name in the status file, an ordinary failure if the plugin calls
// exit(), and the thread's calls after a crash. SIGUSR1 requests the same from a thread; every thread gets it before a hung
// trial is killed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trial/status.hpp"

namespace backplane {

// Process-wide; called once by run-trial. A call of exit() runs `on_exit(plugin)`, which must end the process with _exit.
// Stacks go into the file `stacks` (record/stacks.hpp reads it), which is only created then; empty: no file.
void InstallCrashHandlers(StatusWriter* status, const std::filesystem::path& stacks,
                          std::function<void(const std::string& plugin)> on_exit);

}  // namespace backplane
