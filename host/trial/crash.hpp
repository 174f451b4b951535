// What the trial process leaves behind when a plugin ends it: the plugin's name in the status file, and for a plugin that calls
// exit() an ordinary failure; and of a crash the calls of its thread. SIGUSR1 asks a thread for the same: every thread gets it
// before a trial that hangs is killed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trial/status.hpp"

namespace backplane {

// Process-wide; called once by run-trial. `on_exit(plugin)` runs if somebody calls exit(); it must end the process with _exit.
// Stacks go into the file `stacks` (record/stacks.hpp reads it), which is there only then; empty: nowhere.
void InstallCrashHandlers(StatusWriter* status, const std::filesystem::path& stacks,
                          std::function<void(const std::string& plugin)> on_exit);

}  // namespace backplane
