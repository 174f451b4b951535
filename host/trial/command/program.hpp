// The program that a command names, and how its end is told.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "contract/trial_spec.hpp"
#include "trial/exit_reason.hpp"

namespace backplane {

// Its words as they are executed, the program found: by path or, without a slash, on PATH. `cpus` are granted.
// Throws std::runtime_error: there is no such program.
std::vector<std::string> CommandWords(const TrialSpec& spec, size_t cpus);

// Of one that ended by itself. `last_lines` of what it printed tell that memory ran out; `oom_killed`: the kernel has ended
// something because it did.
ExitReason ReasonOfEnd(const std::string& program, const ChildExit& exit, const std::vector<std::string>& last_lines,
                       bool oom_killed);

}  // namespace backplane
