// What the trial process leaves behind when a plugin ends it: the plugin's name in the status file, and for a plugin that calls
// exit() an ordinary failure. SIGUSR1 asks for the name too: the supervisor sends it before it kills a trial that hangs.
#pragma once

#include <functional>
#include <string>

#include "trial/status.hpp"

namespace backplane {

// Process-wide; called once by run-trial. `on_exit(plugin)` runs if somebody calls exit(); it must end the process with _exit.
void InstallCrashHandlers(StatusWriter* status, std::function<void(const std::string& plugin)> on_exit);

}  // namespace backplane
